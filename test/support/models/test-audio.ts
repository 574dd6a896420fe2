/**
 * Audio that the speech models under test/fixtures/onnx recognize. Source: tools/models/makers/spelling.py and
 * whisper.py.
 */

export const SAMPLE_RATE_HZ = 16_000;

/**
 * Returns a sequence of tones, as samples from -1 to 1 at 16 kHz, mono. The last quarter of each tone is silent. 0 Hz
 * is silence.
 */
export function makeTones(frequenciesHz: readonly number[], toneMs: number): Float32Array<ArrayBuffer> {
  const perTone = (SAMPLE_RATE_HZ * toneMs) / 1_000;
  return Float32Array.from({ length: perTone * frequenciesHz.length }, (_, i) => {
    const hz = frequenciesHz[Math.floor(i / perTone)] ?? 0;
    const sample = i % perTone;
    return sample < 0.75 * perTone ? 0.5 * Math.sin((2 * Math.PI * hz * sample) / SAMPLE_RATE_HZ) : 0;
  });
}

/** Returns 100 ms per letter, with a tone for A to E and silence for a space. `tiny-ctc` transcribes the letters. */
export function spellTones(text: string): Float32Array<ArrayBuffer> {
  return makeTones(
    Array.from(text, (letter) => (letter === " " ? 0 : 400 + 300 * "ABCDE".indexOf(letter))),
    100,
  );
}

const COUNTED = ["one", "two", "three", "four", "five"] as const;

/** Returns a tone of 400 ms per word, which `tiny-whisper` transcribes. Its window holds five words. */
export function countTones(...words: readonly (typeof COUNTED)[number][]): Float32Array<ArrayBuffer> {
  return makeTones(
    words.map((word) => 400 + 300 * COUNTED.indexOf(word)),
    400,
  );
}

/** Encodes a WAV file: 16-bit PCM, mono. Layout: RIFF WAVE, chunks `fmt ` and `data`. */
export function encodeWav(samples: Float32Array, sampleRateHz = SAMPLE_RATE_HZ): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples.length * 2, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(sampleRateHz, 24);
  head.writeUInt32LE(sampleRateHz * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples.length * 2, 40);
  const data = Int16Array.from(samples, (sample) => Math.round(Math.max(-1, Math.min(1, sample)) * 32_767));
  return Buffer.concat([head, Buffer.from(data.buffer)]);
}
