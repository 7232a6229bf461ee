"""Ready views of FHIR R4 resources: what a flat table has of each."""

from __future__ import annotations

from collections.abc import Mapping

_CODE = {"code": "code.coding.code", "system": "code.coding.system", "display": "code.coding.display"}
_ENCOUNTER = {"encounter": "encounter.reference.key(Encounter)"}
_PATIENT = {"patient": "subject.reference.key(Patient)", **_ENCOUNTER}

VIEWS: Mapping[str, Mapping[str, str]] = {
    "Patient": {
        "id": "id",
        "birth_date": "birthDate",
        "gender": "gender",
        "deceased": "deceasedDateTime",
        "marital_status": "maritalStatus.coding.code",
        "city": "address.city",
        "state": "address.state",
        "postal_code": "address.postalCode",
        "country": "address.country",
        "race": "extension.where(url='http://hl7.org/fhir/us/core/StructureDefinition/us-core-race')"
        ".extension.where(url='text').valueString",
        "ethnicity": "extension.where(url='http://hl7.org/fhir/us/core/StructureDefinition/us-core-ethnicity')"
        ".extension.where(url='text').valueString",
    },
    "Encounter": {
        "id": "id",
        "patient": "subject.reference.key(Patient)",
        "status": "status",
        "class": "class.code",
        "type": "type.coding.code",
        "start": "period.start",
        "end": "period.end",
        "reason": "reasonCode.coding.code",
    },
    "Condition": {
        "id": "id",
        **_PATIENT,
        **_CODE,
        "clinical_status": "clinicalStatus.coding.code",
        "onset": "onsetDateTime",
        "abatement": "abatementDateTime",
        "recorded": "recordedDate",
    },
    "Observation": {
        "id": "id",
        **_PATIENT,
        **_CODE,
        "status": "status",
        "category": "category.coding.code",
        "time": "effectiveDateTime",
        "value": "valueQuantity.value",
        "unit": "valueQuantity.code",
        "value_code": "valueCodeableConcept.coding.code",
    },
    "MedicationRequest": {
        "id": "id",
        **_PATIENT,
        "status": "status",
        "intent": "intent",
        "code": "medicationCodeableConcept.coding.code",
        "system": "medicationCodeableConcept.coding.system",
        "display": "medicationCodeableConcept.coding.display",
        "authored": "authoredOn",
    },
    "Procedure": {
        "id": "id",
        **_PATIENT,
        **_CODE,
        "status": "status",
        "start": "performedPeriod.start",
        "end": "performedPeriod.end",
        "performed": "performedDateTime",
    },
    "Immunization": {
        "id": "id",
        "patient": "patient.reference.key(Patient)",
        **_ENCOUNTER,
        "status": "status",
        "code": "vaccineCode.coding.code",
        "system": "vaccineCode.coding.system",
        "display": "vaccineCode.coding.display",
        "time": "occurrenceDateTime",
    },
    "AllergyIntolerance": {
        "id": "id",
        "patient": "patient.reference.key(Patient)",
        **_CODE,
        "clinical_status": "clinicalStatus.coding.code",
        "category": "category",
        "criticality": "criticality",
        "recorded": "recordedDate",
    },
}
