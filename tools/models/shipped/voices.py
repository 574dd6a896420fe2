"""Spoken words for tiny-speech by espeak-ng and flite (Debian packages) in many voices: float32 at 16 kHz, without the silence around them."""
import io
import itertools
import subprocess
import wave

import numpy
import torch
from torch.nn.functional import interpolate

RATE = 16_000
WORDS = """zero one two three four five six seven eight nine ten red green blue yellow white black orange yes no stop go
left right up down on off hello please start open""".split()
ACCENTS = ["en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-029"]
VARIANTS = "m1 m2 m3 m4 m5 m7 m8 f1 f2 f3 f4 f5 klatt klatt4 Andy Annie adam belinda linda max steph rob david Michael".split()
# Voices outside the training data: variants of espeak-ng, and a voice of flite from recordings of another person.
UNHEARD_VARIANTS = ["m6", "Alicia", "john", "anika"]
FLITE, UNHEARD_FLITE = ["slt", "kal16", "rms"], "awb"


def espeak(word, accent, variant, pitch, speed):
    return ["espeak-ng", "-v", f"{accent}+{variant}", "-p", str(pitch), "-s", str(speed), "--stdout", word]


def flite(word, voice, stretch, pitch):
    options = ["--setf", f"duration_stretch={stretch}", "--setf", f"int_f0_target_mean={pitch}"]
    return ["flite", "-voice", voice, *options, "-t", word, "/dev/stdout"]


def say(command):
    """@returns float32 [samples], scaled to a peak of 1"""
    with wave.open(io.BytesIO(subprocess.run(command, capture_output=True, check=True).stdout)) as sound:
        samples = numpy.frombuffer(sound.readframes(10**7), dtype=numpy.int16).astype(numpy.float32)
        samples = torch.from_numpy(samples / max(1, abs(samples).max()))
        if sound.getframerate() != RATE:
            samples = stretch(samples, sound.getframerate() / RATE)
    loud = (samples.abs() > 0.03).nonzero().flatten()
    return samples[max(0, loud[0] - 160) : loud[-1] + 160]


def stretch(samples, factor):
    """Resamples: slower and lower below 1, faster and higher above."""
    return interpolate(samples[None, None], size=int(len(samples) / factor), mode="linear")[0, 0]


def record(random):
    """@returns three lists per word: audio for training, of held-out variants of espeak-ng, of the held-out voice of flite"""
    known, variants, strangers = [], [], []
    for word in WORDS:
        voices = [
            espeak(word, accent, variant, random.randint(25, 75), random.randint(120, 210))
            for variant in VARIANTS
            for accent in random.sample(ACCENTS, 2)
        ]
        voices += [
            flite(word, voice, length, pitch)
            for voice, length, pitch in itertools.product(FLITE, (0.85, 1.0, 1.3), (90, 130, 190))
        ]
        known.append([say(command) for command in voices])
        variants.append([say(espeak(word, "en-us", variant, 50, 160)) for variant in UNHEARD_VARIANTS])
        strangers.append([say(flite(word, UNHEARD_FLITE, length, 120)) for length in (0.9, 1.0, 1.2)])
    return known, variants, strangers
