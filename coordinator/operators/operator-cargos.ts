import type { Clock } from "../../shared/clock.ts";
import type { RuntimeType } from "../../shared/cargo.ts";
import { ServiceError, ValidationError } from "../../shared/errors.ts";
import { approvedForm, revisionOf } from "../catalog/approval-rules.ts";
import { cargoFields, type CargoFile } from "../catalog/cargo-fields.ts";
import { cargoOf, readCargo, readCargoFile } from "../catalog/cargo-file.ts";
import { isOffUnpinned, missingPin, type Pins } from "../catalog/cargo-pins.ts";
import { creditsFromMicro, microFromCredits } from "../credits/micro-credits.ts";
import type { PricedCargo } from "../credits/pricing.ts";
import type { CargoApproval, CatalogSnapshot, StoredCargo } from "../store/catalog.ts";
import type { Store } from "../store/store.ts";
import type { Actor, AuditTrail } from "./audit-trail.ts";

/**
 * Whether jobs can use a Cargo. `offered`: yes. `waiting`: not approved yet. `unpinned`: disabled until approved with
 * pins. `off`: disabled by its owner. `disabled`: disabled by the operator. `hidden`: a shipped Cargo has its slug.
 */
export const CARGO_STATUSES = ["offered", "waiting", "unpinned", "off", "disabled", "hidden"] as const;
type CargoStatus = (typeof CARGO_STATUSES)[number];
type CargoOrigin = "shipped" | "imported" | "owned";

const PRICE_RANGE = "must be 0 to 1000000 credits, with at most 6 decimals";

/** A Cargo in the operator's list. */
export interface CargoLine {
  readonly slug: string;
  readonly runtimeType: RuntimeType | null;
  readonly status: CargoStatus;
  /** Account that owns the Cargo; null unless `origin` is `owned`. */
  readonly ownerId: string | null;
  readonly origin: CargoOrigin;
  /** Number of changes of the stored Cargo; null for a shipped one. */
  readonly revision: number | null;
  /** Whether the program is tied to exact bytes. Null, like `price`, if the Cargo violates a rule of this version. */
  readonly isPinned: boolean | null;
  readonly price: number | null;
  /** Price in the shipped file, in credits per job; null for other Cargos. */
  readonly shippedPrice: number | null;
}

export interface CargoReview extends Pick<CargoLine, "status" | "origin" | "ownerId"> {
  readonly file: CargoFile;
  /** Hash of `file`, which an approval names. */
  readonly revision: string;
  /** Number of changes of the stored Cargo, as in {@link CargoLine.revision}. */
  readonly storedRevision: number | null;
  /** Last approval, of this definition or an earlier one; null if there was none. */
  readonly approval: CargoApproval | null;
  /** Credits per job: the price in `file`, or for a shipped Cargo the operator's price. */
  readonly price: number;
}

export type OperatorCargos = ReturnType<typeof operatorCargos>;

/**
 * Operations on Cargos, for the API and for commands. The coordinator finds changes by commands within a second.
 * @param resolvePins returns the Cargo with the pin that it needs: from `given`, its own, or the current one of
 *   registry or hub. Commands resolve pins before they call this
 * @param onChanged resolves when a change is in the catalogs of all coordinators
 */
export function operatorCargos(
  store: Store["catalog"],
  shipped: readonly CargoFile[],
  trail: AuditTrail,
  clock: Pick<Clock, "now">,
  resolvePins: (file: CargoFile, given: Pins) => Promise<CargoFile> = async (file) => file,
  onChanged: () => Promise<void> = async () => {},
) {
  const shippedFiles = new Map(shipped.map((file) => [file.slug, file]));

  function statusOf(cargo: StoredCargo, { disabledSlugs }: CatalogSnapshot): CargoStatus {
    if (shippedFiles.has(cargo.slug)) return "hidden";
    if (disabledSlugs.includes(cargo.slug)) return "disabled";
    if (!cargo.isEnabled) return "off";
    const read = readCargo(cargo.file);
    if ("file" in read && isOffUnpinned(read.file)) return "unpinned";
    return cargo.isApproved ? "offered" : "waiting";
  }

  /** Checks that the Cargo exists. @throws {ServiceError} `cargo_not_found` */
  async function assertKnown(slug: string): Promise<void> {
    if (!shippedFiles.has(slug) && (await store.find(slug)) === undefined) throw noCargo(slug);
  }

  /** Returns what an approval would sign. @throws {ServiceError} `cargo_not_found`; {@link ValidationError} */
  async function review(slug: string): Promise<CargoReview> {
    const snapshot = await store.snapshot();
    const file = shippedFiles.get(slug);
    if (file !== undefined) return reviewOfShipped(file, snapshot);
    const stored = snapshot.cargos.find((cargo) => cargo.slug === slug);
    if (stored === undefined) throw noCargo(slug);
    const read = readCargo(stored.file);
    if ("errors" in read) throw new ValidationError(read.errors);
    return {
      file: read.file,
      revision: revisionOf(read.file),
      status: statusOf(stored, snapshot),
      origin: originOf(stored),
      ownerId: stored.ownerId,
      storedRevision: stored.revision,
      approval: approvalIn(snapshot, slug),
      price: read.file.price_per_job,
    };
  }

  /** Returns the review with the pin that an approval needs. @throws {ServiceError} like `review`; `bad_request` */
  async function pinned(slug: string, given: Pins): Promise<CargoReview> {
    const reviewed = await review(slug);
    const file = await resolvePins(reviewed.file, given);
    return { ...reviewed, file, revision: revisionOf(file) };
  }

  /**
   * Makes a reviewed Cargo public, and enables it if it was disabled.
   * @throws {ServiceError} `bad_request` if the Cargo is not pinned, or has changed since the review
   */
  async function approveReviewed(
    actor: Actor,
    { approval: last, status, storedRevision }: CargoReview,
    file: CargoFile,
  ): Promise<CargoApproval> {
    const { slug, container = null, model } = file;
    const revision = revisionOf(file);
    const approval = { slug, file, revision, by: actor.actor, atMs: clock.now() };
    const before = { revision: last?.revision ?? null, status };
    const after = { revision, container, model };
    await trail.record(actor, { ...target(slug), action: "cargo.approve", before, after }, async ({ catalog }) => {
      if (missingPin(file) !== null)
        throw new ServiceError("bad_request", `Not approved: ${slug} is not pinned. Give its hash, commit or digest`);
      if (await catalog.approve(approval, storedRevision)) return;
      throw new ServiceError("bad_request", `${slug} has changed since it was reviewed. Review it again`);
    });
    await onChanged();
    return approval;
  }

  return {
    review,
    pinned,
    approveReviewed,

    /** Returns all Cargos, sorted by slug. */
    async list(): Promise<CargoLine[]> {
      const snapshot = await store.snapshot();
      const fromFiles = shipped.map((each): CargoLine => {
        const { file, status, origin, ownerId, price } = reviewOfShipped(each, snapshot);
        const shippedPrice = file.price_per_job;
        return { ...fieldsOf(file), status, origin, ownerId, revision: null, price, shippedPrice };
      });
      const stored = snapshot.cargos.map((cargo): CargoLine => {
        const { slug, ownerId, revision } = cargo;
        const read = readCargo(cargo.file);
        const status = statusOf(cargo, snapshot);
        const line = { slug, status, ownerId, origin: originOf(cargo), revision, shippedPrice: null };
        if ("errors" in read) return { ...line, runtimeType: null, isPinned: null, price: null };
        return { ...line, ...fieldsOf(read.file), price: read.file.price_per_job };
      });
      return [...fromFiles, ...stored].sort((a, b) => (a.slug < b.slug ? -1 : 1));
    },

    /**
     * Approves a Cargo, with the pins of its review.
     * @param revision revision of the pinned review; exactly this definition is signed
     * @throws {ServiceError} `cargo_not_found`; `bad_request` if the Cargo has changed or cannot be pinned; {@link
     *   ValidationError}
     */
    async approve(actor: Actor, slug: string, revision: string, given: Pins): Promise<CargoApproval> {
      const reviewed = await pinned(slug, given);
      const changed = `Not approved: ${slug} no longer has revision ${revision}. Review it again`;
      if (reviewed.revision !== revision) throw new ServiceError("bad_request", changed);
      return approveReviewed(actor, reviewed, reviewed.file);
    },

    /**
     * Disables a Cargo for all accounts, or enables it again, which does not approve it.
     * @throws {ServiceError} `cargo_not_found`
     */
    async setDisabled(actor: Actor, slug: string, isDisabled: boolean): Promise<void> {
      const action = isDisabled ? "cargo.disable" : "cargo.enable";
      await trail.record(actor, { ...target(slug), action }, async ({ catalog }) => {
        await assertKnown(slug);
        await catalog.setDisabled(slug, isDisabled, clock.now());
      });
      await onChanged();
    },

    /**
     * Sets the price of a shipped Cargo for jobs submitted from now on; null restores the price of its file.
     * @throws {ServiceError} `cargo_not_found`, `bad_request` for a Cargo that is not shipped; {@link ValidationError}
     */
    async setPrice(actor: Actor, slug: string, credits: number | null): Promise<CargoReview> {
      const before = { price: (await review(slug)).price };
      const auditEvent = { ...target(slug), action: "cargo.price", before, after: { price: credits } };
      await trail.record(actor, auditEvent, async ({ catalog }) => {
        await assertKnown(slug);
        if (!shippedFiles.has(slug))
          throw new ServiceError("bad_request", `${slug} is not a shipped Cargo. Change the price in its definition`);
        const isPrice = credits === null || cargoFields.price_per_job.safeParse(credits).success;
        if (!isPrice) throw new ValidationError([{ path: "price_per_job", message: PRICE_RANGE }]);
        await catalog.setPrice(slug, credits === null ? null : microFromCredits(credits), clock.now());
      });
      await onChanged();
      return review(slug);
    },

    /**
     * Stores or replaces a public Cargo of the operator, and returns its slug.
     * @param text content of a file in the format of catalog/cargos
     * @throws {ServiceError} `slug_taken`; {@link ValidationError}
     */
    async importFile(actor: Actor, text: string): Promise<string> {
      const read = readCargoFile(text);
      if ("errors" in read) throw new ValidationError(read.errors);
      const { file } = read;
      const { slug } = file;
      if (shippedFiles.has(slug))
        throw new ServiceError("slug_taken", `A shipped Cargo has the slug "${slug}"; choose another slug`);
      const auditEvent = { ...target(slug), action: "cargo.import", after: { revision: revisionOf(file) } };
      await trail.noting(actor, auditEvent).catalog.importCargo({ slug, file, atMs: clock.now() });
      await onChanged();
      return slug;
    },
  };
}

/** Returns the Cargo under review with its current price. */
export function pricedCargoOf({ file, price }: Pick<CargoReview, "file" | "price">): PricedCargo {
  return { ...cargoOf(file), priceMicro: microFromCredits(price) };
}

function reviewOfShipped(shipped: CargoFile, snapshot: CatalogSnapshot): CargoReview {
  const approval = approvalIn(snapshot, shipped.slug);
  const approved = approval === null ? null : approvedForm(shipped, approval);
  const file = isOffUnpinned(shipped) && approved !== null ? approved : shipped;
  const isDisabled = snapshot.disabledSlugs.includes(shipped.slug);
  const setMicro = snapshot.pricesMicro.get(shipped.slug);
  return {
    file,
    revision: revisionOf(file),
    status: isDisabled ? "disabled" : isOffUnpinned(file) ? "unpinned" : "offered",
    origin: "shipped",
    ownerId: null,
    storedRevision: null,
    approval,
    price: setMicro === undefined ? file.price_per_job : creditsFromMicro(setMicro),
  };
}

function fieldsOf(file: CargoFile): Pick<CargoLine, "slug" | "runtimeType" | "isPinned"> {
  return { slug: file.slug, runtimeType: file.runtime_type, isPinned: missingPin(file) === null };
}

function originOf({ ownerId }: StoredCargo): CargoOrigin {
  return ownerId === null ? "imported" : "owned";
}

function approvalIn({ approvals }: CatalogSnapshot, slug: string): CargoApproval | null {
  return approvals.find((approval) => approval.slug === slug) ?? null;
}

function noCargo(slug: string): ServiceError {
  return new ServiceError("cargo_not_found", `There is no Cargo "${slug}"`);
}

const target = (targetId: string) => ({ targetKind: "cargo", targetId }) as const;
