"""What a column's name says: words of English, German, French and Spanish column names, by what they stand for.

A pattern is matched against every run of neighbouring words of the name, written together: `birthdate` fits
BIRTHDATE, birth_date and patientBirthDate. `diagnos*` fits a beginning, `=first` the whole name alone, `*_name` a last
word after others, and `?` is any one letter.
"""

from __future__ import annotations

from typing import NamedTuple

from medveil.table.schema import Role


class Concept(NamedTuple):
    """Something that columns are about. `letter` is its paragraph among the eighteen identifiers that HIPAA's Safe
    Harbor rule removes, 45 CFR 164.514(b)(2)(i)(A) to (R); empty where it is none.
    """

    key: str
    role: Role
    letter: str
    noun: str
    patterns: str


PEOPLE = (
    "patient patients patienten person persons subject participant individual client member enrollee resident "
    "proband teilnehmer versicherten versicherter paciente persona sujet sujeto assure beneficiary beneficiaire "
    "respondent donor"
)
STAYS = (
    "encounter visit episode stay admission claim case fall sejour accession specimen sample order prescription event "
    "record row hadm icustay consultation ingreso episodio behandlungsfall occurrence exam study image series invoice"
)
ENDINGS = "id ids nr no nbr num number key identifier uuid guid nummer numero kennung pseudonym hash sk uid pk"


def _keys(things: str) -> str:
    """Every thing with every ending that makes a key of it: patientid, patientnr, ..."""
    return " ".join(f"{thing}{ending}" for thing in things.split() for ending in ENDINGS.split())


N, Q, S = Role.IDENTIFIER, Role.QUASI, Role.SENSITIVE

IDENTIFIERS = (
    Concept(
        "mail", N, "F", "a mail address",
        "email* mail emailaddress mailaddress emailadresse courriel correo correoelectronico",
    ),
    Concept(
        "ip", N, "O", "an IP address",
        "ip ipaddress ipaddr ipv4 ipv6 ipadresse adresseip direccionip",
    ),
    Concept(
        "url", N, "N", "a web address",
        "url urls uri website webpage homepage weblink webseite siteweb paginaweb",
    ),
    Concept(
        "fax", N, "E", "a fax number",
        "fax faxnumber telefax* telecopie*",
    ),
    Concept(
        "phone", N, "D", "a telephone number",
        """
        phone* telephone* tel telno telnr mobile mobilephone mobilenumber cellphone telefon* handy handynummer movil
        contactnumber
        """,
    ),
    Concept(
        "social-security", N, "G", "a social security or national identity number",
        """
        ssn socialsecurity* sozialversicherung* svnr nir securitesociale* numerosecuritesociale nss seguridadsocial
        nationalid* nino nhsnumber dni nif rrn passport* reisepass* passeport* pasaporte* personnummer
        personalausweis* cpr taxid steuerid* pesel aadhaar curp identitynumber
        """,
    ),
    Concept(
        "licence", N, "K", "a certificate or licence number",
        """
        driver drivers driverslicen* driverlicen* licen?e licen?eno licen?enumber fuhrerschein* permis permisconduire
        carnetconducir certificatenumber certificateno approbation* npi dea
        """,
    ),
    Concept(
        "vehicle", N, "L", "a vehicle identifier",
        """
        vin vehicleid* licen?eplate* numberplate* platenumber kennzeichen kfzkennzeichen fahrgestell*
        immatriculation* matricula
        """,
    ),
    Concept(
        "device", N, "M", "a device identifier or serial number",
        """
        udi imei macaddress serialnumber serialno serial deviceid deviceserial* uniquedeviceid implantid implantserial*
        seriennummer geratenummer numeroserie numerodeserie lotnumber
        """,
    ),
    Concept(
        "biometric", N, "P", "a biometric identifier",
        """
        biometric* fingerprint* retinascan irisscan voiceprint* faceid dnaprofile fingerabdruck* empreinte* huella*
        voicerecording
        """,
    ),
    Concept(
        "photo", N, "Q", "a photograph or comparable image",
        "photo* picture* portrait faceimage imagefile imagepath lichtbild foto* retrato =image =bild =imagen",
    ),
    Concept(
        "plan", N, "I", "a health plan number",
        """
        healthplan* insurancenumber insuranceno insuranceid policynumber policyno memberid membernumber subscriber*
        beneficiaryid beneficiarynumber medicareid medicarenumber medicaidid medicaidnumber hicn mbi versichertennummer
        versichertennr versicherungsnummer kvnr krankenversichertennummer numeroassure numeroafiliado numeropoliza
        tarjetasanitaria
        """,
    ),
    Concept(
        "account", N, "J", "an account number",
        """
        account accountid accountno accountnr accountnumber accountnum iban bankaccount kontonummer konto numerocompte
        comptebancaire cuentabancaria numerocuenta creditcard* cardnumber kartennummer bic
        """,
    ),
    Concept(
        "record", N, "H", "a patient or medical record number",
        f"""
        {_keys(PEOPLE)} =patient =person =subject =participant mrn medicalrecord* recordnumber chartnumber
        hospitalnumber pid patid patno subjid usubjid empi seqn personsourcevalue krankenaktennummer aktenzeichen
        numerodossier historiaclinica =patienten =paciente =participante
        """,
    ),
    Concept(
        "stay", N, "R", "the number of a stay, visit, order or the like",
        f"""
        {_keys(STAYS)} =encounter =visit =claim fallnummer fallnr aufnahmenummer fallid csn visitsourcevalue
        visitdetailsourcevalue
        """,
    ),
    Concept(
        "address", N, "B", "a street address",
        """
        address* addr street* strasse* adresse* anschrift hausnummer housenumber rue direccion calle domicilio apartment
        """,
    ),
    Concept(
        "coordinates", N, "B", "coordinates of a place",
        """
        lat lon lng latitude longitude coordinate* gps geohash geocode breitengrad langengrad latitud longitud easting
        northing
        """,
    ),
    Concept(
        "name", N, "A", "a person's name",
        """
        firstname lastname givenname fname lname forename* surname* familyname middlename maiden* fullname nickname
        alias patientname personname vorname* nachname* familienname geburtsname prenom* nomfamille nomdefamille
        nompatient apellido* nombrepaciente nombrecompleto spousename mothername fathername nextofkin emergencycontact
        initials =name =names =first =last =middle =prefix =suffix =title =nom =nombre =titel =anrede providername
        physicianname doctorname username arztname *_name
        """,
    ),
)  # fmt: skip

NOT_NAMES = (
    "drug medication medicine brand generic disease condition diagnosis procedure test lab code hospital facility "
    "organization organisation ward department unit file column variable country city state region county species "
    "payer plan concept vaccine product device item measure table school company store site source clinic"
)
"""What has a name without being a person: `drug_name` is not a patient's name."""

DEMOGRAPHIC = (
    Concept(
        "age", Q, "C", "an age",
        "age ages alter lebensalter edad ageyears agemonths agegroup altersgruppe agerange agebracket agep agey",
    ),
    Concept(
        "birth", Q, "C", "a birth date or part of it",
        """
        birth birthdate dateofbirth dob birthday birthyear yearofbirth monthofbirth dayofbirth birthmonth yob geburt*
        gebdatum naissance datenaissance datedenaissance nacimiento fechanacimiento fechadenacimiento
        """,
    ),
    Concept(
        "sex", Q, "", "the sex or gender",
        "sex gender geschlecht* sexe genre sexo genero",
    ),
    Concept(
        "race", Q, "", "race or ethnic origin",
        "race races ethnic* ethnie rasse hautfarbe raza etnia origin hispanic ancestry rac1p rac2p rac3p racea hisp",
    ),
    Concept(
        "marital", Q, "", "the marital status",
        "marital* marst marstat civilstatus familienstand etatcivil situationfamiliale estadocivil marriage",
    ),
    Concept(
        "weight", Q, "", "a body measure that others can see",
        """
        weight height length bmi bodyweight bodyheight headcirc grosse korpergrosse gewicht korpergewicht poids taille
        peso talla estatura eyecolo* haircolo* ht wt htcm wtkg htin wtlb htm
        """,
    ),
)  # fmt: skip

SENSITIVE = (
    Concept(
        "income", S, "", "money",
        """
        income* salary salaries wage wages earning* einkommen gehalt lohn revenu* salaire ingresos renta salario
        capitalgain capitalloss poverty wealth expense* cost costs kosten cout costo charge charges coverage debt credit
        price betrag montant revenue payment* amount*
        """,
    ),
    Concept(
        "diagnosis", S, "", "a diagnosis or state of health",
        """
        diagnos* diag dx disease* illness* condition* disorder* icd* drg morbid* comorbid* symptom* allerg* cancer*
        tumor* tumour* neoplasm* diabet* hypertension htn stroke asthma copd hiv* aids hepatitis depress* psych* mental*
        ment schizo* dementia suicid* disabil* injur* complication* causeofdeath cause* krankheit* erkrankung* befund*
        nebenwirkung* behinderung* maladie* pathologie* handicap* enfermedad* discapacidad* health* reasoncode
        reasondescription stage severity outcome* readmi* survival prognosis observation* finding* famhist familyhistory
        """,
    ),
    Concept(
        "drug", S, "", "a drug or treatment",
        """
        drug* medication* medicine* medicament* medikament* prescription* rx ndc atc dose* dosage dosis treatment*
        therap* behandlung* traitement* tratamiento* procedure* procedimiento* vaccin* impf* vacuna* immuniz* insulin*
        antibiotic* chemo* wirkstoff* steroid* nitr diuretic device* diabetesmed meds
        """,
    ),
    Concept(
        "result", S, "", "a laboratory result or clinical measurement",
        """
        lab labs labor* laboratory* laboratoire* laboratorio* result* ergebnis* resultat* resultado* test tests
        testresult measurement* glucose glu maxgluserum a1c* hba1c* chol* hdl ldl triglycer* creatinin* hemoglobin*
        haemoglobin* testosteron* urin* serum blood* blut* sang sangre bp bpsys* bpdia* systolic diastolic pulse
        heartrate hr rr resprate respiratoryrate sbp dbp sysbp diabp abpsys abpdias spo2 sao2 o2sat gcs bodytemp temp
        tempc tempf ecg ekg restecg trestbps thalach fbs temperature score valueasnumber valueasstring
        valuesourcevalue genetic* gene genes genotype mutation dna apgar
        """,
    ),
    Concept(
        "conduct", S, "", "private conduct or belief",
        """
        smok* cigs cigarette* tobacco tabac* rauch* fumador alcohol* alkohol* drink* marij* cannabis harddrugs addict*
        sucht* sexual* sexever sexage sexnum* samesex sexorient* orientation partner* babies baby pregnan* gravid*
        schwanger* grossesse embarazo abortion sleep* physactive* religi* politic* union criminal* convict* arrest*
        littleinterest
        """,
    ),
)  # fmt: skip

QUASI = (
    Concept(
        "survey-weight", Q, "", "a survey weight or the design of a survey",
        """
        fnlwgt fnlwt finalweight finalwt surveyweight sampleweight samplingweight sampwt wtmec* wtint* wtsaf* wtdr*
        perwt pwgtp wgtp hhwt llcpwt asecwt statwt sdmvpsu sdmvstra =psu =strata =stratum
        """,
    ),
    Concept(
        "death", Q, "C", "a date of death or a part of it",
        """
        dod dateofdeath deathdate deathday deathmon deathmonth deathyear deathyr yearofdeath monthofdeath dayofdeath yod
        todesdatum todestag sterbedatum datedeces fechadefuncion fechamuerte
        """,
    ),
    Concept(
        "zip", Q, "B", "a postal code",
        "zip zips zipcode* zip3 zip5 postcode* postal* plz postleitzahl* codepostal codigopostal",
    ),
    Concept(
        "place", Q, "B", "a place smaller than a state",
        """
        city cities town village ort stadt wohnort ville commune ciudad pueblo municip* gemeinde county counties
        district landkreis kreis canton precinct parish neighbo* tract birthplace placeofbirth geburtsort lieunaissance
        lieudenaissance lugarnacimiento lugardenacimiento residence location puma countyfip* census* fips msa
        suburb barrio quartier
        """,
    ),
    Concept(
        "region", Q, "", "a region or country",
        """
        state states statenum province provinz provincia bundesland region* departement comunidad estado country
        statefip* countries nation* nativecountry pays pais staat* citizenship immigra*
        """,
    ),
    Concept(
        "education", Q, "", "education",
        "educ schl education* school* degree bildung* ausbildung* schul* niveauetudes etudes educacion estudios",
    ),
    Concept(
        "occupation", Q, "", "occupation or work",
        """
        occupation* profession* job* beruf* employ* work workclass worker* metier ocupacion industry hoursperweek
        military veteran
        """,
    ),
    Concept(
        "family", Q, "", "family or household",
        """
        relationship household* children kids family* spouse haushalt* kinder enfants hijos hogar menage home* house*
        nbabies
        """,
    ),
    Concept(
        "language", Q, "", "language",
        "language* sprache langue idioma",
    ),
    Concept(
        "insurance", Q, "", "the kind of insurance",
        "insurance* insurer payer* payor krankenkasse kasse versicherung* assurance mutuelle seguro",
    ),
    Concept(
        "care", Q, "", "a stay, a visit, surgery or death",
        """
        admi* discharge* stay* los lengthofstay timeinhospital verweildauer aufenthalt* liegedauer duree* dureesejour
        estancia surgery operation emergency inpatient outpatient visit* encounter* entlass* aufnahme* death* dead
        deceased died mortality vitalstatus verstorben deces muerte fallecid* transfer* intensivecare icu
        """,
    ),
    Concept(
        "provider", Q, "", "who treated the patient, or where",
        """
        hospital* clinic* ward station department abteilung* krankenhaus klinik* hopital service unitname provider*
        physician* doctor* arzt medecin medico specialty speciality medicalspecialty facility site caresite organization
        organisation
        """,
    ),
    Concept(
        "time", Q, "C", "a point in time",
        """
        date* datum fecha year surveyyr jahr annee ano month monat mois mes week woche quarter quartal season timestamp
        zeitpunkt uhrzeit start stop begin end datetime =day =days =time =yr =hour
        """,
    ),
)  # fmt: skip

PLAIN = Concept(
    "technical", Role.PLAIN, "", "how the table was made",
    "unit units uom unitsourcevalue unitconceptid version software currency wahrung format",
)  # fmt: skip

FREE_TEXT = (
    "note notes comment comments remark remarks narrative freetext text report reporttext anamnes* bemerkung* "
    "kommentar* freitext arztbrief* befundtext remarque* commentaire* observaciones notas comentario* history letter "
    "memo summary"
)

HINTS = "phone email passport surname firstname lastname fullname address telefon vorname nachname"
"""Words of identifiers that also count in the middle of a longer word, such as `custphone`."""

FILLER = (
    "patient person code cd id concept source value at of in the is group range years year yrs months kg cm desc "
    "description status date datetime day month time name own 1 2 3 4 admission"
)
"""Words that add nothing to a demographic: `race_source_value` is race."""

FLAGS = "0 1 y n yes no true false t f ja nein j oui non o si s unknown x none"
"""The values of a column that only says whether there is something."""

DRUG_STEMS = (
    "formin glitazone glinide gliptin glipton glitol carbose sartan statin prazole cillin mycin azepam azolam oxetine "
    "tinib zumab ximab umab triptan floxacin gliflozin glutide butamide propamide hexamide azamide parin lukast dipine "
    "glipizide glyburide glimepiride glibenclamide examide morphine codone fentanyl metoprolol bisoprolol propranolol "
    "ramipril lisinopril enalapril aspirin ibuprofen paracetamol warfarin digoxin prednisone"
)
"""Ends of the international names of drugs, and common drugs without such an end."""

DESCRIPTION = "code codes description desc beschreibung bezeichnung libelle descripcion sourcevalue"
CODED = "=diag =diagnosis =dx diag1 diag2 diag3 dx1 dx2 icd* snomed* loinc* ndc atc reasoncode conceptid sourcevalue"
"""Sensitive columns whose numbers are codes."""
QUANTITY = (
    "age alter edad num number count nb anzahl nombre numero days hours hrs years months weeks weight height length "
    "size amount score rate level stay dose quantity income salary price cost rooms dauer duree times "
    "pregnancies babies"
)
CODE_LIST = "concept code codes cd type id typ art class category kategorie klasse categorie status group flag source"
