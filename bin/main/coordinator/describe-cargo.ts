import { formatCredits } from "../../../coordinator/credits/micro-credits.ts";
import { currentPricing, type Pricing } from "../../../coordinator/credits/pricing.ts";
import { type CargoReview, pricedCargoOf } from "../../../coordinator/operators/operator-cargos.ts";
import type { CargoFile } from "../../../coordinator/catalog/cargo-fields.ts";
import { pinKindOf, pinsOf } from "../../../coordinator/catalog/cargo-pins.ts";
import { needsApproval } from "../../../coordinator/catalog/approval-rules.ts";
import { readCargo } from "../../../coordinator/catalog/cargo-file.ts";
import { formatBytes, MIB } from "../../../shared/format-bytes.ts";
import { isDeclaredAddress } from "../../../shared/model-address.ts";
import { plain } from "../../../shared/cli/plain-text.ts";

const STATES: Readonly<Record<CargoReview["status"], string>> = {
  offered: "available to all accounts",
  waiting: "waits for approval: runs only for its owner, on its owner's Islands",
  unpinned: "off until an approval pins it",
  off: "switched off by its owner",
  disabled: "disabled by the operator",
  hidden: "hidden by a shipped Cargo of the same slug",
};

/** Lists everything that an approval signs, one item per line. @param owner e-mail address; null for the operator. */
export function describeReview(review: CargoReview, owner: string | null): string {
  const { file, revision, status, origin, storedRevision } = review;
  const lines: [label: string, text: string | null][] = [
    ["name", `${file.name}: ${file.description}`],
    ["state", STATES[status]],
    ["not pinned", file.unpinned_reason ?? null],
    ["approval", describeApproval(review)],
    ["owner", owner ?? origin],
    ["category", file.category],
    ["runtime", [file.runtime_type, file.onnx_task_type, file.task, file.weights].filter(Boolean).join(", ")],
    ...describeContainer(review),
    ...describeModel(review),
    ["parts", file.parts?.map(describeFile).join(", ") ?? null],
    ["projector", file.projector === undefined ? null : describeFile(file.projector)],
    ["adapters", file.adapters?.map(({ url, scale }) => `${url} (${scale})`).join(", ") ?? null],
    ["kept", file.keep_alive_s === undefined ? null : `${file.keep_alive_s} s in memory after the last job`],
    ["arguments", file.args === undefined ? null : JSON.stringify(file.args)],
    [
      "memory",
      `${formatBytes(file.required_ram_mb * MIB)} of RAM, ${formatBytes(file.required_vram_mb * MIB)} of VRAM`,
    ],
    ["limits", describeLimits(review)],
    ["trust", file.min_trust === undefined ? null : `at least ${file.min_trust}`],
    ["price", `${describePrice(review)}, licence ${file.licence}`],
    ["schemas", `input ${sizeOf(file.input_schema)}, output ${sizeOf(file.output_schema)}`],
    ["revision", storedRevision === null ? revision : `${revision} (change ${storedRevision})`],
  ];
  const shown = lines.filter((line): line is [string, string] => line[1] !== null);
  return [file.slug, ...shown.map(([label, text]) => `  ${label.padEnd(11)} ${plain(text)}`)].join("\n");
}

/** Describes the current price, the shipped one if it differs, and the prices by size. */
export function describePrice(review: Pick<CargoReview, "price" | "file">): string {
  const { price, file } = review;
  const shipped = price === file.price_per_job ? "" : ` (shipped: ${file.price_per_job})`;
  const rates = describeRates(currentPricing(pricedCargoOf(review)));
  return `${price} credits per job${shipped}${rates === null ? "" : `; ${rates}`}`;
}

function describeRates(pricing: Pricing | null): string | null {
  if (pricing === null) return null;
  const { prompt, completion, pixelStep, audioUs } = pricing.rates;
  if (pixelStep !== undefined) return `${formatCredits(pixelStep)} per megapixel and step`;
  if (audioUs !== undefined) return `${formatCredits(audioUs)} per second of audio`;
  const rates = [prompt, completion].filter((rate) => rate !== undefined).map((rate) => formatCredits(rate));
  return `${rates.join(" / ")} per million tokens`;
}

/** Returns the `--json` output for a Cargo under review. */
export function presentReview(review: CargoReview, owner: string | null) {
  const { file, revision, status, origin, storedRevision, approval } = review;
  const kind = pinKindOf(file);
  return {
    slug: file.slug,
    status,
    origin,
    owner,
    revision,
    stored_revision: storedRevision,
    price_per_job: review.price,
    pin: kind === null ? null : { kind, value: pinsOf(file)[kind] ?? null },
    approval: approval === null ? null : { revision: approval.revision, by: approval.by, at: timeOf(approval.atMs) },
    cargo: file,
  };
}

function describeApproval({ approval, file, status }: CargoReview): string {
  if (approval === null) return status === "offered" ? "none recorded" : "never";
  const { revision, by, atMs } = approval;
  const approved = readCargo(approval.file);
  const isPresent = "file" in approved && !needsApproval(approved.file, file);
  return `${timeOf(atMs)} by ${by}, revision ${revision}${isPresent ? "" : "; CHANGED SINCE"}`;
}

function describeContainer({ file: { container } }: CargoReview): [string, string][] {
  if (container === undefined) return [];
  return [
    ["image", container.image],
    ["digest", container.digest ?? "NOT PINNED: the image of the tag may change"],
    ["command", container.command === null ? "the command in the image" : JSON.stringify(container.command)],
    ["network", container.network ? "YES, the public internet" : "no"],
    ["GPU", container.gpu ? "yes" : "no"],
  ];
}

function describeModel({ file }: CargoReview): [string, string][] {
  const { model } = file;
  if (model === null) return [];
  if (isDeclaredAddress(model.url)) {
    return [["model", `${model.url}, DECLARED: nothing proves which model engines run, not even an approval`]];
  }
  if (file.runtime_type === "engine") return [["model", model.url]];
  const kind = pinKindOf(file);
  const pin = kind === null ? undefined : pinsOf(file)[kind];
  const size = model.size_bytes === null ? "" : `, ${formatBytes(model.size_bytes)}`;
  return [
    ["model", `${model.url}${size}`],
    [kind === "modelCommit" ? "commit" : "hash", pin ?? "NOT PINNED: the content of the URL may change"],
  ];
}

function describeFile({ url, sha256, size_bytes }: NonNullable<CargoFile["projector"]>): string {
  return `${url}, ${formatBytes(size_bytes)}, ${sha256}`;
}

function describeLimits({ file }: CargoReview): string {
  const limits: [name: string, value: number | null | undefined, unit: string][] = [
    ["run", file.run_limit_s, "s"],
    ["wait", file.wait_limit_s, "s"],
    ["accept", file.accept_limit_s, "s"],
    ["start", file.start_limit_s, "s"],
    ["first output", file.first_output_limit_s, "s"],
    ["silence", file.silence_limit_s, "s"],
    ["output", file.max_output_bytes, "bytes"],
    ["context", file.context_tokens, "tokens"],
  ];
  const set = limits.filter(([, value]) => value !== null && value !== undefined);
  return set.map((limit) => limit.join(" ")).join(", ");
}

function sizeOf(schema: object | undefined): string {
  return schema === undefined ? "from the runtime" : `${Buffer.byteLength(JSON.stringify(schema))} bytes`;
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
