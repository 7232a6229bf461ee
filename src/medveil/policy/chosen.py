"""A field whose class is chosen by a name, out of the parts that are found at run time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema

from medveil.errors import did_you_mean


class OneOf:
    """A field whose class is chosen by one of its keys, out of those that are found at run time: the `usual` one where
    the key is left out.
    """

    def __init__(self, key: str, found: Callable[[], Mapping[str, type[BaseModel]]], usual: str | None = None) -> None:
        self.key = key
        self.found = found
        self.usual = usual

    def _choose(self, given: Any) -> BaseModel:
        if isinstance(given, BaseModel):
            return given
        if isinstance(given, str):
            given = {self.key: given}
        if isinstance(given, Mapping) and self.usual is not None:
            given = {self.key: self.usual, **given}
        found = self.found()
        if not isinstance(given, Mapping) and self.usual is not None:
            raise PydanticCustomError("missing_name", "must be one text, or a mapping")
        if not isinstance(given, Mapping) or self.key not in given:
            example = f"{{{self.key}: {next(iter(found))}}}"
            raise PydanticCustomError(
                "missing_name", "must have the key '{key}', such as {example}", {"key": self.key, "example": example}
            )
        name = str(given[self.key])
        if name not in found:
            hint = did_you_mean(name, found)
            raise PydanticCustomError("unknown_name", "there is no '{name}'. {hint}", {"name": name, "hint": hint})
        parameters = {key: value for key, value in given.items() if key != self.key}
        chosen = found[name]
        if self.key in chosen.model_fields:
            parameters[self.key] = name
        try:
            return _without_words_for_numbers(chosen.model_validate(parameters), parameters)
        except ValidationError as error:
            raise PydanticCustomError(
                "inside",
                "{name} is not right",
                {"name": name, "errors": error.errors(), "known": list(chosen.model_fields)},
            ) from None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._choose,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda chosen: {
                    self.key: chosen.name,
                    **chosen.model_dump(mode="json", exclude_unset=True, by_alias=True),
                }
            ),
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"oneOf": [self._option(name, found) for name, found in self.found().items()]}

    def _option(self, name: str, found: type[BaseModel]) -> JsonSchemaValue:
        """The schema of one class, with its own definitions written out where they are used."""
        option = found.model_json_schema()
        definitions = option.pop("$defs", {})
        properties = {**option.get("properties", {}), self.key: {"const": name}}
        required = [self.key, *(key for key in option.get("required", []) if key != self.key)]
        written: JsonSchemaValue = written_out({**option, "properties": properties, "required": required}, definitions)
        return written


def _without_words_for_numbers(made: BaseModel, given: Mapping[str, Any]) -> BaseModel:
    """What was made, unless a number of it was given as `true`, which pydantic reads as 1."""
    said = [key for key, value in given.items() if isinstance(value, bool)]
    wrong = [key for key in said if type(getattr(made, key, None)) in {int, float}]
    if wrong:
        details = [InitErrorDetails(type="int_type", loc=(key,), input=given[key]) for key in wrong]
        raise ValidationError.from_exception_data(type(made).__name__, details)
    return made


def written_out(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """A schema in which every reference is replaced by what it refers to; one that refers to itself is anything."""
    if isinstance(schema, list):
        return [written_out(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(reference := schema.get("$ref"), str):
        name = reference.rpartition("/")[2]
        remaining = {key: value for key, value in definitions.items() if key != name}
        return written_out(definitions[name], remaining) if name in definitions else {}
    return {key: written_out(value, definitions) for key, value in schema.items()}
