import { gguf } from "@huggingface/gguf";

const ALIGNMENT = 32;
const HEADER_BYTES = 2_000_000;
const UINT16 = 2;
const INT32 = 5;

/**
 * Splits a GGUF file as llama.cpp's gguf-split does: the first file has all metadata, and each has its number
 * (`split.no`, from 0), the number of files and that of all tensors.
 */
export async function splitGguf(bytes: Buffer, count: number): Promise<Buffer[]> {
  const readHeader = async (): Promise<Response> => new Response(new Uint8Array(bytes.subarray(0, HEADER_BYTES)));
  const { metadata, tensorInfos, tensorDataOffset, tensorInfoByteRange } = await gguf("https://models.example/", {
    fetch: readHeader,
  });
  const FIRST_KEY = 24;
  const keys = bytes.subarray(FIRST_KEY, tensorInfoByteRange[0]);
  const dataStart = Number(tensorDataOffset);
  const starts = tensorInfos.map(({ offset }) => dataStart + Number(offset));
  const tensors = tensorInfos.map((info, index) => ({
    ...info,
    data: padded(bytes.subarray(starts[index], starts[index + 1] ?? bytes.length)),
  }));
  const perFile = Math.ceil(tensors.length / count);
  return Array.from({ length: count }, (_, number) => {
    const own = tensors.slice(number * perFile, (number + 1) * perFile);
    let offset = 0;
    const infos = own.map(({ name, shape, dtype, data }) => {
      const info = [string(name), uint32(shape.length), ...shape.map(uint64), uint32(dtype), uint64(offset)];
      offset += data.length;
      return Buffer.concat(info);
    });
    const split = [
      [string("split.no"), uint32(UINT16), uint16(number)],
      [string("split.count"), uint32(UINT16), uint16(count)],
      [string("split.tensors.count"), uint32(INT32), uint32(tensors.length)],
    ];
    const ownKeys = number === 0 ? Number(metadata.kv_count) : 0;
    const head = Buffer.concat([
      Buffer.from("GGUF"),
      uint32(3),
      uint64(own.length),
      uint64(ownKeys + split.length),
      ...(number === 0 ? [keys] : []),
      ...split.flat(),
      ...infos,
    ]);
    return Buffer.concat([padded(head), ...own.map(({ data }) => data)]);
  });
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT)]);
}

function string(text: string): Buffer {
  return Buffer.concat([uint64(Buffer.byteLength(text)), Buffer.from(text)]);
}

function uint16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeUInt16LE(value);
  return buffer;
}

function uint32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

function uint64(value: number | bigint): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(value));
  return buffer;
}
