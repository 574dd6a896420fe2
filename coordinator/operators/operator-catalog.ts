import { ServiceError } from "../../shared/errors.ts";
import { revisionOf } from "../catalog/approval-rules.ts";
import type { CargoFile } from "../catalog/cargo-fields.ts";
import type { Pins } from "../catalog/cargo-pins.ts";
import type { CargoLine, CargoReview, OperatorCargos } from "../catalog/operator-cargos.ts";
import type { CargoApproval } from "../store/catalog.ts";
import type { Actor, AuditTrail } from "./audit-trail.ts";

/** Operations on Cargos, by the API and by commands. */
export type OperatorCatalog = ReturnType<typeof operatorCatalog>;

/**
 * @param resolvePins The Cargo with the pin that it needs: that of `given`, its own, or what registry or hub say now.
 * @param onChanged Resolves when a change is in the catalog, also of the other coordinators.
 */
export function operatorCatalog(
  cargos: OperatorCargos,
  trail: AuditTrail,
  resolvePins: (file: CargoFile, given: Pins) => Promise<CargoFile>,
  onChanged: () => Promise<void> = async () => {},
) {
  const pin = async (review: CargoReview, given: Pins): Promise<CargoReview> => {
    const file = await resolvePins(review.file, given);
    return { ...review, file, revision: revisionOf(file) };
  };
  /** As `approve`, for a Cargo that its caller reviewed and pinned. */
  const approveReviewed = async (
    actor: Actor,
    by: string,
    review: CargoReview,
    file: CargoFile,
  ): Promise<CargoApproval> => {
    const { slug, container, model } = file;
    const before = { revision: review.approval?.revision ?? null, status: review.status };
    const after = { revision: revisionOf(file), container: container ?? null, model };
    const deed = { ...target(slug), action: "cargo.approve", before, after };
    const approval = await trail.record(actor, deed, ({ catalog }) => cargos.approve(review, file, by, catalog));
    await onChanged();
    return approval;
  };

  return {
    approveReviewed,

    /** All, sorted by slug. */
    list: (): Promise<CargoLine[]> => cargos.list(),

    /** Everything that an approval would sign, as it is now. @throws {ServiceError} `cargo_not_found`; {@link ValidationError} */
    review: (slug: string): Promise<CargoReview> => cargos.review(slug),

    /** The same with the pin that an approval needs. @throws {ServiceError} `cargo_not_found`, `bad_request`; {@link ValidationError} */
    pinned: async (slug: string, given: Pins): Promise<CargoReview> => pin(await cargos.review(slug), given),

    /**
     * Signs exactly `revision`, the one of the pinned review. @throws {ServiceError} `cargo_not_found`; `bad_request` if the Cargo is another
     * one by now, or cannot be pinned; {@link ValidationError}
     */
    async approve(actor: Actor, by: string, slug: string, revision: string, given: Pins): Promise<CargoApproval> {
      const review = await cargos.review(slug);
      const pinned = await pin(review, given);
      if (pinned.revision !== revision) {
        throw new ServiceError(
          "bad_request",
          `Not approved: ${slug} no longer has revision ${revision}. Review it again`,
        );
      }
      return approveReviewed(actor, by, review, pinned.file);
    },

    /** Switches a Cargo off for all accounts, or undoes that. @throws {ServiceError} `cargo_not_found` */
    async setDisabled(actor: Actor, slug: string, isDisabled: boolean): Promise<void> {
      const deed = { ...target(slug), action: isDisabled ? "cargo.disable" : "cargo.enable" };
      await trail.record(actor, deed, ({ catalog }) => cargos.setDisabled(slug, isDisabled, catalog));
      await onChanged();
    },

    /** Sets the price of a shipped Cargo; null: the shipped one again. @throws {ServiceError} `cargo_not_found`, `bad_request`; {@link ValidationError} */
    async setPrice(actor: Actor, slug: string, credits: number | null): Promise<CargoReview> {
      const before = { price: (await cargos.review(slug)).price };
      const deed = { ...target(slug), action: "cargo.price", before, after: { price: credits } };
      await trail.record(actor, deed, ({ catalog }) => cargos.setPrice(slug, credits, catalog));
      await onChanged();
      return cargos.review(slug);
    },
  };
}

const target = (targetId: string) => ({ targetKind: "cargo", targetId }) as const;
