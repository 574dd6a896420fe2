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

const PIN_FLAGS: Readonly<Record<PinKind, string>> = {
  imageDigest: "--image-digest sha256:…",
  modelHash: "--model-hash <sha256>",
  modelCommit: "--model-commit <commit>",
};
/** Flags of `cargo approve` that `cargo show` does not accept. */
const APPROVAL_FLAGS = ["revision", "imageDigest", "modelHash", "modelCommit", "hub", "allowPrivate"];

interface ApproveOptions extends DataOptions {
  readonly revision?: string;
  readonly imageDigest?: string;
  readonly modelHash?: string;
  readonly modelCommit?: string;
  readonly hub?: string;
  readonly allowPrivate?: true;
  readonly allShipped?: true;
  readonly yes?: true;
}

/** Adds `coordinator cargo show|approve`: shows what an approval signs, and approves exactly that. */
export function addCargoApprovalCommands(cargo: Command, { addDataOptions, print }: CommandTools): void {
  addDataOptions(cargo.command("show <slug>"))
    .description("Show everything that an approval of the Cargo signs")
    .action(async (slug: string, options: DataOptions) => {
      await withCargos(options, async (cargos, store) => {
        const review = await cargos.review(slug);
        const owner = await ownerOf(review, store);
        print(options, presentReview(review, owner), describeReview(review, owner));
      });
    });
  addDataOptions(cargo.command("approve [slug]"))
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
    .option("--hub <url>", "URL of the model hub or of a mirror (default: hub_url)")
    .option("--allow-private", "allow lookups in registries and hubs of the local network")
    .action(async (slug: string | undefined, options: ApproveOptions, command: Command) => {
      assertSlugOrAllShipped(slug, options);
      await withCargos(options, async (cargos, store, { catalogDirectory, hubUrl }) => {
        const { imageDigest, modelHash, modelCommit, hub = hubUrl, allowPrivate = false } = options;
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
        ).catch(throwWithPinFlags);
        const pinned = { ...review, file, revision: revisionOf(file) };
        const owner = await ownerOf(review, store);
        // With --json this goes to standard error, because standard output contains only the result.
        if (options.json === true) console.error(describeReview(pinned, owner));
        else console.log(describeReview(pinned, owner));
        await assertRevisionConfirmed(review, pinned, options.revision, command);
        const approval = await cargos.approveReviewed(commandActor(), review, file);
        const value = { slug, approved: true, revision: approval.revision };
        print(options, value, `${slug} is available to all accounts as revision ${approval.revision}`);
      });
    });
}

/** @throws {UsageError} unless the command names either one Cargo or --all-shipped. */
function assertSlugOrAllShipped(slug: string | undefined, options: ApproveOptions): void {
  const { allShipped, revision, imageDigest, modelHash, modelCommit } = options;
  if ((slug === undefined) === (allShipped === undefined))
    throw new UsageError(
      slug === undefined
        ? "No Cargo was given. Give the slug of one Cargo, or --all-shipped"
        : `The slug ${JSON.stringify(slug)} and --all-shipped cannot be combined. Give one of them`,
    );
  const hasRevisionOrPin = [revision, imageDigest, modelHash, modelCommit].some((flag) => flag !== undefined);
  if (slug === undefined && hasRevisionOrPin)
    throw new UsageError(
      "--all-shipped cannot be combined with --revision, --image-digest, --model-hash or --model-commit, which apply to one Cargo. Give the slug of that Cargo instead",
    );
}

/** Adds to the message of a failed lookup the flags that give the pin. @throws {unknown} */
function throwWithPinFlags(error: unknown): never {
  if (!(error instanceof UnpinnedError)) throw error;
  const privately = error.isPrivate ? ", or allow lookups in the local network with --allow-private" : "";
  throw new CliError(`${error.message} with ${PIN_FLAGS[error.kind]}${privately}`, { cause: error });
}

/**
 * Requires that the operator gives the pinned revision with --revision, or confirms the revision that is shown. @throws
 * {CliError}
 */
async function assertRevisionConfirmed(
  review: CargoReview,
  pinned: CargoReview,
  chosen: string | undefined,
  command: Command,
): Promise<void> {
  const { slug } = pinned.file;
  const name = coordinatorName();
  const flags = givenFlags(command, ["revision"]);
  const retryCommand = `${name} cargo approve ${slug} --revision ${pinned.revision}${flags}`;
  if (chosen !== undefined) {
    if (chosen === pinned.revision) return;
    if (Number(chosen) !== review.storedRevision) {
      throw new CliError(
        `${slug} was not approved: --revision must be the current revision ${pinned.revision}, got ${JSON.stringify(chosen)}. To review the Cargo again, run: ${name} cargo show ${slug}${givenFlags(command, APPROVAL_FLAGS)}`,
      );
    }
    // A number is a count of changes, as in earlier versions. It does not cover a pin that this lookup added.
    if (pinned.revision === review.revision) return;
    throw new CliError(
      `${slug} was not approved: its revision ${chosen} is not pinned yet. To approve the pinned revision shown above, run: ${retryCommand}`,
    );
  }
  if (!process.stdin.isTTY) {
    throw new CliError(
      `${slug} was not approved, because standard input is not a terminal and cannot confirm the approval. To approve the revision shown above, run: ${retryCommand}`,
    );
  }
  if (!(await askYes("Sign this Cargo for all Islands?"))) throw new CliError(`${slug} was not approved`);
}

/** Returns the e-mail address of the Cargo's owner; null for an operator's Cargo. */
async function ownerOf({ ownerId }: CargoReview, store: Store): Promise<string | null> {
  if (ownerId === null) return null;
  return (await store.accounts.get(ownerId))?.email ?? ownerId;
}
