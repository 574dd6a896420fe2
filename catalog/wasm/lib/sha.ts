import { Text } from "./text";

const BLOCK_BYTES = 64;

/** The big-endian blocks that SHA-1 and SHA-256 work on: the message, a 1 bit, zeros, and its length in bits (FIPS 180-4, 5.1.1). */
function pad(message: Text): Text {
  const blocks = (message.length + 8) / BLOCK_BYTES + 1;
  const bytes = blocks * BLOCK_BYTES;
  const padded = heap.alloc(bytes);
  memory.copy(padded, message.ptr, message.length);
  memory.fill(padded + message.length, 0, bytes - message.length);
  store<u8>(padded + message.length, 0x80);
  store<u64>(padded + bytes - 8, bswap<u64>((message.length as u64) * 8));
  return new Text(padded, bytes);
}

/** The words of a hash as big-endian bytes. */
function digestOf(words: StaticArray<u32>): Text {
  const digest = heap.alloc(words.length * 4);
  for (let at = 0; at < words.length; at++) store<u32>(digest + at * 4, bswap<u32>(words[at]));
  return new Text(digest, words.length * 4);
}

/** SHA-1, FIPS 180-4 section 6.1. Only for old formats: collisions are known. */
export function sha1(message: Text): Text {
  const padded = pad(message);
  const hash: StaticArray<u32> = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
  const schedule = new StaticArray<u32>(80);
  for (let block = 0; block < padded.length; block += BLOCK_BYTES) {
    for (let t = 0; t < 16; t++) schedule[t] = bswap<u32>(load<u32>(padded.ptr + block + t * 4));
    for (let t = 16; t < 80; t++)
      schedule[t] = rotl<u32>(schedule[t - 3] ^ schedule[t - 8] ^ schedule[t - 14] ^ schedule[t - 16], 1);
    let a = hash[0];
    let b = hash[1];
    let c = hash[2];
    let d = hash[3];
    let e = hash[4];
    for (let t = 0; t < 80; t++) {
      const next = rotl<u32>(a, 5) + mix1(t, b, c, d) + e + schedule[t];
      e = d;
      d = c;
      c = rotl<u32>(b, 30);
      b = a;
      a = next;
    }
    hash[0] += a;
    hash[1] += b;
    hash[2] += c;
    hash[3] += d;
    hash[4] += e;
  }
  return digestOf(hash);
}

/** f(t) and K(t) of SHA-1. */
function mix1(t: i32, b: u32, c: u32, d: u32): u32 {
  if (t < 20) return ((b & c) ^ (~b & d)) + 0x5a827999;
  if (t < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (t < 60) return ((b & c) ^ (b & d) ^ (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const K256: StaticArray<u32> = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
];

/** SHA-256, FIPS 180-4 section 6.2. */
export function sha256(message: Text): Text {
  const padded = pad(message);
  const hash: StaticArray<u32> = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
  ];
  const schedule = new StaticArray<u32>(64);
  const state = new StaticArray<u32>(8);
  for (let block = 0; block < padded.length; block += BLOCK_BYTES) {
    for (let t = 0; t < 16; t++) schedule[t] = bswap<u32>(load<u32>(padded.ptr + block + t * 4));
    for (let t = 16; t < 64; t++) {
      const early = schedule[t - 15];
      const late = schedule[t - 2];
      const sigma0 = rotr<u32>(early, 7) ^ rotr<u32>(early, 18) ^ (early >> 3);
      const sigma1 = rotr<u32>(late, 17) ^ rotr<u32>(late, 19) ^ (late >> 10);
      schedule[t] = sigma1 + schedule[t - 7] + sigma0 + schedule[t - 16];
    }
    for (let at = 0; at < 8; at++) state[at] = hash[at];
    for (let t = 0; t < 64; t++) round256(state, K256[t] + schedule[t]);
    for (let at = 0; at < 8; at++) hash[at] += state[at];
  }
  return digestOf(hash);
}

function round256(state: StaticArray<u32>, input: u32): void {
  const a = state[0];
  const e = state[4];
  const sum1 = rotr<u32>(e, 6) ^ rotr<u32>(e, 11) ^ rotr<u32>(e, 25);
  const choice = (e & state[5]) ^ (~e & state[6]);
  const t1 = state[7] + sum1 + choice + input;
  const sum0 = rotr<u32>(a, 2) ^ rotr<u32>(a, 13) ^ rotr<u32>(a, 22);
  const majority = (a & state[1]) ^ (a & state[2]) ^ (state[1] & state[2]);
  for (let at = 7; at > 0; at--) state[at] = state[at - 1];
  state[4] += t1;
  state[0] = t1 + sum0 + majority;
}
