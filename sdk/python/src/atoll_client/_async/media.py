from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import IO, Literal, Unpack

from .. import operations as o
from .. import schemas as s
from .http import LONG_TIMEOUT_S, AsyncHttp, Form


class AsyncImages:
    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def generate(self, **body: Unpack[s.ImagesRequest]) -> s.Images:
        """Generates images: PNG files in base64. The coordinator cancels the job when the connection closes."""
        return await self._http.call(o.CREATE_IMAGES, body=body, default_timeout=LONG_TIMEOUT_S)


class AsyncAudio:
    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    def speech(self, **body: Unpack[s.SpeechRequest]) -> AsyncGenerator[bytes, None]:
        """Converts text to speech and streams the bytes of the file. The coordinator cancels the job when the connection closes."""
        return self._http.chunks(o.CREATE_SPEECH, body=body, default_timeout=LONG_TIMEOUT_S)

    async def transcribe(
        self,
        file: bytes | IO[bytes],
        *,
        model: str | None = None,
        response_format: Literal["json", "verbose_json"] | None = None,
        language: str | None = None,
        timestamp_granularities: Sequence[Literal["segment", "word"]] | None = None,
    ) -> s.Transcription:
        """Transcribes speech. `file`: a WAV file. `verbose_json` adds timestamps."""
        form = _form_of(
            file,
            {
                "model": model,
                "response_format": response_format,
                "language": language,
                "timestamp_granularities[]": timestamp_granularities,
            },
        )
        return await self._http.call(o.CREATE_TRANSCRIPTION, form=form, default_timeout=LONG_TIMEOUT_S)

    async def translate(
        self,
        file: bytes | IO[bytes],
        *,
        model: str | None = None,
        response_format: Literal["json", "verbose_json"] | None = None,
    ) -> s.Transcription:
        """Translates speech to English text. `file`: a WAV file."""
        form = _form_of(file, {"model": model, "response_format": response_format})
        return await self._http.call(o.CREATE_TRANSLATION, form=form, default_timeout=LONG_TIMEOUT_S)


def _form_of(file: bytes | IO[bytes], values: Mapping[str, str | Sequence[str] | None]) -> Form:
    fields: dict[str, str | list[str]] = {}
    for name, value in values.items():
        if value is not None:
            fields[name] = value if isinstance(value, str) else list(value)
    return Form(fields, file, "sound.wav")
