import type { Command } from "commander";
import { revisionOf } from "../../../coordinator/catalog/approval-rules.ts";
import type { PinKind } from "../../../coordinator/catalog/cargo-pins.ts";
import type { CargoReview } from "../../../coordinator/operators/operator-cargos.ts";
import { resolvePins, UnpinnedError } from "../../../coordinator/catalog/pin-lookup/resolve-pins.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { CliError } from "../../../shared/errors.ts";
import { coordinatorName, givenFlags } from "../terminal/command-line.ts";
import { askYes } from "../terminal/ask-again.ts";
import { UsageError } from "../terminal/usage-errors.ts";
import { approveAllShipped } from "./approve-all-shipped.ts";
import type { CommandTools } from "./command-tools.ts";
import type { DataOptions } from "./data-commands.ts";
import { describeReview, presentReview } from "./describe-cargo.ts";
import { commandActor, withCargos } from "./operator-tools.ts";

/** Time limit of all requests to a registry or hub together. */
const LOOKUP_LIMIT_MS = 30_000;
const DEFAULT_HUB = "https://huggingface.co";

const PIN_FLAGS: Readonly<Record<PinKind, string>> = {
  imageDigest: "--image-digest sha256:…",
  modelHash: "--model-hash <sha256>",
  modelCommit: "--model-commit <commit>",
};
/** Flags that `cargo show` does not have. */
const APPROVAL_FLAGS = ["revision", "imageDigest", "modelHash", "modelCommit", "hub", "allowPrivate"];

interface ApproveOptions extends DataOptions {
  readonly revision?: string;
  readonly imageDigest?: string;
  readonly modelHash?: string;
  readonly modelCommit?: string;
  readonly hub: string;
  readonly allowPrivate?: true;
  readonly allShipped?: true;
  readonly yes?: true;
}

/** Adds `coordinator cargo show|approve`: shows what an approval signs, and approves exactly that. */
export function addCargoApprovalCommands(cargo: Command, { onDataDirectory, print }: CommandTools): void {
  onDataDirectory(cargo.command("show <slug>"))
    .description("Show everything that an approval of the Cargo signs")
    .action(async (slug: string, options: DataOptions) => {
      await withCargos(options, async (cargos, store) => {
        const review = await cargos.review(slug);
        const owner = await ownerOf(review, store);
        print(options, presentReview(review, owner), describeReview(review, owner));
      });
    });
  onDataDirectory(cargo.command("approve [slug]"))
    .description("Pin a Cargo, sign it and make it available to all accounts; also enables a disabled Cargo")
    .option("--all-shipped", "approve all shipped Cargos that are off, after one confirmation")
    .option("--yes", "with --all-shipped: skip the confirmation")
    .option(
      "--revision <revision>",
      "approve only this revision, as `cargo show` prints it; required without a terminal",
    )
    .option("--image-digest <digest>", "digest of the image, instead of a lookup in its registry")
    .option("--model-hash <sha256>", "SHA-256 of the model file or of files.json")
    .option("--model-commit <commit>", "commit of the model repository on the hub")
    .option("--hub <url>", "URL of the model hub or of a mirror", DEFAULT_HUB)
    .option("--allow-private", "allow lookups in registries and hubs of the local network")
    .action(async (slug: string | undefined, options: ApproveOptions, command: Command) => {
      assertOneSubject(slug, options);
      await withCargos(options, async (cargos, store, { catalogDirectory }) => {
        const { imageDigest, modelHash, modelCommit, hub, allowPrivate = false } = options;
        if (slug === undefined) {
          const sources = { hub, allowPrivate, catalogDirectory, silentHosts: new Set<string>() };
          return approveAllShipped({ cargos, sources, options, command });
        }
        const review = await cargos.review(slug);
        const file = await resolvePins(
          review.file,
          { imageDigest, modelHash, modelCommit },
          { hub, allowPrivate, catalogDirectory },
          AbortSignal.timeout(LOOKUP_LIMIT_MS),
        ).catch(nameFlags);
        const pinned = { ...review, file, revision: revisionOf(file) };
        const owner = await ownerOf(review, store);
        // Standard error with --json, because standard output holds only the result.
        if (options.json === true) console.error(describeReview(pinned, owner));
        else console.log(describeReview(pinned, owner));
        await assertChosen(review, pinned, options.revision, command);
        const approval = await cargos.approveReviewed(commandActor(), review, file);
        const value = { slug, approved: true, revision: approval.revision };
        print(options, value, `${slug} is available to all accounts as revision ${approval.revision}`);
      });
    });
}

/** @throws {UsageError} unless one Cargo is named, or all shipped ones. */
function assertOneSubject(slug: string | undefined, options: ApproveOptions): void {
  const { allShipped, revision, imageDigest, modelHash, modelCommit } = options;
  if ((slug === undefined) === (allShipped === undefined))
    throw new UsageError("Expected either the slug of one Cargo or --all-shipped");
  const isOfOne = [revision, imageDigest, modelHash, modelCommit].some((flag) => flag !== undefined);
  if (slug === undefined && isOfOne)
    throw new UsageError(
      "--all-shipped cannot be combined with a revision or a pin, which belong to one Cargo. Name the Cargo instead",
    );
}

/** Adds the flags that help to a failed look-up. @throws {unknown} */
function nameFlags(error: unknown): never {
  if (!(error instanceof UnpinnedError)) throw error;
  const privately = error.isPrivate ? ", or allow lookups in the local network with --allow-private" : "";
  throw new CliError(`${error.message} with ${PIN_FLAGS[error.kind]}${privately}`, { cause: error });
}

/** Requires that the operator names the revision with its pins, or confirms the shown one. @throws {CliError} */
async function assertChosen(
  review: CargoReview,
  pinned: CargoReview,
  chosen: string | undefined,
  command: Command,
): Promise<void> {
  const { slug } = pinned.file;
  const name = coordinatorName();
  const flags = givenFlags(command, ["revision"]);
  const again = `${name} cargo approve ${slug} --revision ${pinned.revision}${flags}`;
  if (chosen !== undefined) {
    if (chosen === pinned.revision) return;
    if (Number(chosen) !== review.storedRevision) {
      throw new CliError(
        `Not approved: ${slug} does not have revision ${chosen}. Review it again: ${name} cargo show ${slug}${givenFlags(command, APPROVAL_FLAGS)}`,
      );
    }
    // A number counts changes, as in earlier versions. It does not cover a pin from this look-up.
    if (pinned.revision === review.revision) return;
    throw new CliError(
      `Not approved: revision ${chosen} is not pinned yet. To approve the revision shown above: ${again}`,
    );
  }
  if (!process.stdin.isTTY) {
    throw new CliError(
      `Not approved: no terminal to ask for confirmation. To approve the revision shown above: ${again}`,
    );
  }
  if (!(await askYes("Sign this Cargo for all Islands?"))) throw new CliError("Not approved");
}

/** Returns the e-mail address of the Cargo's owner; null for an operator's Cargo. */
async function ownerOf({ ownerId }: CargoReview, store: Store): Promise<string | null> {
  if (ownerId === null) return null;
  return (await store.accounts.get(ownerId))?.email ?? ownerId;
}
