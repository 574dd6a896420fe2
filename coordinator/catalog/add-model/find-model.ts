import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { z } from "zod";
import { ServiceError } from "../../../shared/errors.ts";
import { hubFileAddress } from "../../../shared/model-address.ts";
import { hashOfFile } from "../imported-models.ts";
import { PinLookupError } from "../pin-lookup/lookup-http.ts";
import { chooseFiles, type ChosenFiles, labelOf } from "./choose-files.ts";
import type { HubRequests } from "./hub-requests.ts";
import type { ModelSource } from "./model-source.ts";

/** A file of a model, not downloaded. */
export interface FoundFile {
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Where its header is read: an address, or a path on disk. */
  readonly from: URL | string;
  /** Address in the Cargo; null for a file that the coordinator will serve. */
  readonly url: string | null;
}

/** A model and what its publisher says about it. */
export interface FoundModel extends ChosenFiles<FoundFile> {
  /** Where it was found, such as `hf.co/user/repo`. */
  readonly place: string;
  /** Name without the name of the user. */
  readonly name: string;
  /** Label of the quantization; null if the file's name has none. */
  readonly quantization: string | null;
  /** Commit of the repository; null unless it is on the hub. */
  readonly commit: string | null;
  readonly licence: string | null;
  /** Whether downloads need the access token of an account that has accepted the terms. */
  readonly isGated: boolean;
}

const MAX_PAGES = 50;
/** Paths that the address of a Cargo cannot name. */
const UNADDRESSABLE = /[\s#]|(?:^|\/)\.{0,2}(?:\/|$)/;
const MAX_LICENCE_BYTES = 200_000;
const MAX_LICENCE_LENGTH = 100;

const hashSchema = z.string().regex(/^[0-9a-f]{64}$/);
const textOrTexts = z.union([z.string(), z.array(z.string()).transform((texts) => texts.join(", "))]);
const cardSchema = z.object({ license: textOrTexts.optional(), license_name: z.string().optional() });
const repositorySchema = z.object({
  sha: z.string().regex(/^[0-9a-f]{40}$/),
  gated: z.union([z.boolean(), z.string()]).default(false),
  private: z.boolean().default(false),
  cardData: cardSchema.nullish().catch(null),
});
const treeSchema = z.array(
  z.object({
    type: z.string(),
    path: z.string().max(1_000),
    lfs: z.object({ oid: hashSchema, size: z.number().int().positive() }).optional(),
  }),
);
const manifestSchema = z.object({
  layers: z.array(z.object({ mediaType: z.string(), digest: z.string(), size: z.number().int().nonnegative() })),
});

/**
 * Finds the files of a model with their hashes, and downloads none.
 * @param hub address of the hub or of a mirror
 * @throws {ServiceError} `bad_request` for a source without such a file; {@link PinLookupError}
 */
export function findModel(source: ModelSource, hub: string, requests: HubRequests): Promise<FoundModel> {
  switch (source.kind) {
    case "hub":
      return onHub(source, hub.replace(/\/+$/, ""), requests);
    case "ollama":
      return inRegistry(source, requests);
    case "disk":
      return onDisk(source.path);
    default:
      return source satisfies never;
  }
}

async function onHub(
  source: Extract<ModelSource, { kind: "hub" }>,
  hub: string,
  requests: HubRequests,
): Promise<FoundModel> {
  const { repository } = source;
  const revision = encodeURIComponent(source.revision ?? "main");
  const api = `${hub}/api/models/${repository}`;
  const { value } = await requests.json(new URL(`${api}/revision/${revision}`), repository);
  const parsed = repositorySchema.safeParse(value);
  if (!parsed.success) throw new PinLookupError(`${new URL(hub).host} returned no commit for ${repository}`);
  const { sha: commit, gated, private: isPrivate, cardData } = parsed.data;
  const files: FoundFile[] = [];
  let page: URL | null = new URL(`${api}/tree/${commit}?recursive=true`);
  for (let pages = 0; page !== null; pages += 1) {
    if (pages === MAX_PAGES) throw new PinLookupError(`${repository} has too many files`);
    const listed: { value: unknown; next: URL | null } = await requests.json(page, `the files of ${repository}`);
    const tree = treeSchema.safeParse(listed.value);
    if (!tree.success) throw new PinLookupError(`${page.host} returned no list of files for ${repository}`);
    for (const { type, path, lfs } of tree.data) {
      if (type !== "file" || lfs === undefined || UNADDRESSABLE.test(path)) continue;
      const encoded = path.split("/").map(encodeURIComponent).join("/");
      const from = new URL(`${hub}/${repository}/resolve/${commit}/${encoded}`);
      files.push({
        path,
        sha256: lfs.oid,
        sizeBytes: lfs.size,
        from,
        url: hubFileAddress(repository, path, commit),
      });
    }
    page = listed.next;
  }
  const place = `hf.co/${repository}`;
  const chosen = chooseFiles(files, source, place);
  const licence = cardData?.license === "other" ? (cardData.license_name ?? "other") : cardData?.license;
  return {
    ...chosen,
    place,
    name: (repository.split("/")[1] ?? "").replace(/[-_.]gguf$/i, ""),
    quantization: labelOf(chosen.model.path),
    commit,
    licence: licence ?? null,
    isGated: gated !== false || isPrivate,
  };
}

/** Source: Ollama's registry speaks the OCI Distribution Specification; the digest of a layer is its file's SHA-256. */
async function inRegistry(
  { registry, name, tag }: Extract<ModelSource, { kind: "ollama" }>,
  requests: HubRequests,
): Promise<FoundModel> {
  const place = `${registry.host}/${name}:${tag}`;
  const url = new URL(`/v2/${name}/manifests/${tag}`, registry);
  const { value } = await requests.json(url, place, "application/vnd.docker.distribution.manifest.v2+json");
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success) throw new PinLookupError(`${registry.host} returned no manifest for ${place}`);
  const layerOf = (kind: string): FoundFile | null => {
    const layer = parsed.data.layers.find(({ mediaType }) => mediaType === `application/vnd.ollama.image.${kind}`);
    const sha256 = hashSchema.safeParse(layer?.digest.replace(/^sha256:/, ""));
    if (layer === undefined || !sha256.success) return null;
    const from = new URL(`/v2/${name}/blobs/sha256:${sha256.data}`, registry);
    return { path: `${name}:${tag} (${kind})`, sha256: sha256.data, sizeBytes: layer.size, from, url: from.href };
  };
  const model = layerOf("model");
  if (model === null)
    throw new ServiceError("bad_request", `${place} is not in one GGUF file, so no Island can run it`);
  const licence = layerOf("license");
  const text =
    licence === null ? "" : await requests.text(licence.from as URL, `the licence of ${place}`, MAX_LICENCE_BYTES);
  return {
    model,
    parts: [],
    projector: layerOf("projector"),
    place,
    name: tag === "latest" ? (name.split("/")[1] ?? name) : `${name.split("/")[1]}-${tag}`,
    quantization: labelOf(`${tag}.gguf`),
    commit: null,
    licence: text.trim().split("\n")[0]?.trim().slice(0, MAX_LICENCE_LENGTH) || null,
    isGated: false,
  };
}

async function onDisk(path: string): Promise<FoundModel> {
  const folder = dirname(resolve(path));
  const named = basename(path);
  const names = await readdir(folder);
  const here = names.map((name) => ({ path: name }));
  const place = join(folder, named);
  const { model, parts } = chooseFiles(here, { file: named, quantization: null }, folder);
  const describe = async ({ path: name }: { path: string }): Promise<FoundFile> => {
    const from = join(folder, name);
    const { size } = await stat(from);
    return { path: name, sha256: await hashOfFile(from), sizeBytes: size, from, url: null };
  };
  const files: FoundFile[] = [];
  for (const each of [model, ...parts]) files.push(await describe(each));
  const [first, ...others] = files;
  if (first === undefined) throw new ServiceError("bad_request", `${place} is not a file`);
  const name = named.replace(/(?:-\d{5}-of-\d{5})?\.gguf$/i, "");
  const quantization = labelOf(named);
  return {
    model: first,
    parts: others,
    projector: null,
    place,
    name,
    quantization,
    commit: null,
    licence: null,
    isGated: false,
  };
}
