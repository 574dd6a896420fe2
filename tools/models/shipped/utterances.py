"""Audio for tests of tiny-speech and the example of its Cargo, by voices outside the training data."""
import base64
import io
import json
import wave

import torch

from folder import FIXTURES, ROOT
from shipped import voices

PAUSE_S, HALF_RATE = 0.4, 8_000
FLITE = lambda word: voices.flite(word, voices.UNHEARD_FLITE, 1.0, 120)
ESPEAK = lambda variant: lambda word: voices.espeak(word, "en-us", variant, 50, 160)
SPOKEN = {
    "four-five-six": FLITE,
    "yes-no-stop": FLITE,
    "red-green-blue-seven": ESPEAK("john"),
    "hello-left-ten": ESPEAK("Alicia"),
}
EXAMPLE = "yes", ESPEAK("m6")


def wav(samples, rate):
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes((samples * 0.7 * 32_767).to(torch.int16).numpy().tobytes())
    return file.getvalue()


def write():
    folder = FIXTURES / "spoken"
    folder.mkdir(exist_ok=True)
    for name, speaker in SPOKEN.items():
        parts = [torch.zeros(int(PAUSE_S * voices.RATE))]
        for word in name.split("-"):
            parts += [voices.say(speaker(word)), parts[0]]
        (folder / f"{name}.wav").write_bytes(wav(torch.cat(parts), voices.RATE))
    word, speaker = EXAMPLE
    quiet = torch.zeros(1_000)
    sound = voices.stretch(torch.cat([quiet, voices.say(speaker(word)), quiet]), voices.RATE / HALF_RATE)
    cargo = ROOT / "catalog" / "cargos" / "tiny-speech.json"
    content = json.loads(cargo.read_text(encoding="utf-8"))
    content["example_input"] = {"audio": base64.b64encode(wav(sound, HALF_RATE)).decode()}
    cargo.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
