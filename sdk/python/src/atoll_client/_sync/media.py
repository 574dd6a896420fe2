# Generated from the file of the same name in _async by `npm run generate`. Not for editing.
from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import IO, Literal, Unpack

from .. import operations as o
from .. import schemas as s
from .http import LONG_TIMEOUT_S, Http, Form


class Images:
    def __init__(self, http: Http) -> None:
        self._http = http

    def generate(self, **body: Unpack[s.ImagesRequest]) -> s.Images:
        """Draws pictures, PNG files in base64. The coordinator cancels the job when the connection closes."""
        return self._http.call(o.CREATE_IMAGES, body=body, default_timeout=LONG_TIMEOUT_S)


class Audio:
    def __init__(self, http: Http) -> None:
        self._http = http

    def speech(self, **body: Unpack[s.SpeechRequest]) -> Generator[bytes, None, None]:
        """Speaks a text: the bytes of the file as they come. The coordinator cancels the job when the connection closes."""
        return self._http.chunks(o.CREATE_SPEECH, body=body, default_timeout=LONG_TIMEOUT_S)

    def transcribe(
        self,
        file: bytes | IO[bytes],
        *,
        model: str | None = None,
        response_format: Literal["json", "verbose_json"] | None = None,
        language: str | None = None,
        timestamp_granularities: Sequence[Literal["segment", "word"]] | None = None,
    ) -> s.Transcription:
        """Writes speech down. `file`: a WAV file. `verbose_json`: with times."""
        form = _form_of(
            file,
            {
                "model": model,
                "response_format": response_format,
                "language": language,
                "timestamp_granularities[]": timestamp_granularities,
            },
        )
        return self._http.call(o.CREATE_TRANSCRIPTION, form=form, default_timeout=LONG_TIMEOUT_S)

    def translate(
        self,
        file: bytes | IO[bytes],
        *,
        model: str | None = None,
        response_format: Literal["json", "verbose_json"] | None = None,
    ) -> s.Transcription:
        """Writes speech down in English. `file`: a WAV file."""
        form = _form_of(file, {"model": model, "response_format": response_format})
        return self._http.call(o.CREATE_TRANSLATION, form=form, default_timeout=LONG_TIMEOUT_S)


def _form_of(file: bytes | IO[bytes], values: Mapping[str, str | Sequence[str] | None]) -> Form:
    fields: dict[str, str | list[str]] = {}
    for name, value in values.items():
        if value is not None:
            fields[name] = value if isinstance(value, str) else list(value)
    return Form(fields, file, "sound.wav")
