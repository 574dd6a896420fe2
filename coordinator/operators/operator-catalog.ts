import { ServiceError } from "../../shared/errors.ts";
import { revisionOf } from "../catalog/approval-rules.ts";
import type { CargoFile } from "../catalog/cargo-fields.ts";
import type { Pins } from "../catalog/cargo-pins.ts";
import type { CargoLine, CargoReview, OperatorCargos } from "../catalog/operator-cargos.ts";
import type { CargoApproval } from "../store/catalog.ts";
import type { Actor, AuditTrail } from "./audit-trail.ts";

export interface OperatorCatalogDeps {
  readonly cargos: OperatorCargos;
  readonly trail: AuditTrail;
  /** The Cargo with the pin that it needs: that of `given`, its own, or what registry or hub say now. */
  readonly resolvePins: (file: CargoFile, given: Pins) => Promise<CargoFile>;
  /** Resolves when a change is in the catalog, also of the other coordinators. */
  readonly onChanged?: () => Promise<void>;
}

/** What operators do with Cargos, by the API and by commands. */
export class OperatorCatalog {
  readonly #deps: OperatorCatalogDeps;

  constructor(deps: OperatorCatalogDeps) {
    this.#deps = deps;
  }

  /** All, sorted by slug. */
  list(): Promise<CargoLine[]> {
    return this.#deps.cargos.list();
  }

  /** Everything that an approval would sign, as it is now. @throws {ServiceError} `cargo_not_found`; {@link ValidationError} */
  review(slug: string): Promise<CargoReview> {
    return this.#deps.cargos.review(slug);
  }

  /** The same with the pin that an approval needs. @throws {ServiceError} `cargo_not_found`, `bad_request`; {@link ValidationError} */
  async pinned(slug: string, given: Pins): Promise<CargoReview> {
    return this.#pin(await this.review(slug), given);
  }

  /**
   * Signs exactly `revision`, the one of the pinned review. @throws {ServiceError} `cargo_not_found`; `bad_request` if the Cargo is another
   * one by now, or cannot be pinned; {@link ValidationError}
   */
  async approve(actor: Actor, by: string, slug: string, revision: string, given: Pins): Promise<CargoApproval> {
    const review = await this.review(slug);
    const pinned = await this.#pin(review, given);
    if (pinned.revision !== revision) {
      throw new ServiceError("bad_request", `Not approved: ${slug} is not revision ${revision} now. Review it again`);
    }
    return this.approveReviewed(actor, by, review, pinned.file);
  }

  /** As {@link approve}, of a Cargo that its caller reviewed and pinned. */
  async approveReviewed(actor: Actor, by: string, review: CargoReview, file: CargoFile): Promise<CargoApproval> {
    const { cargos, trail, onChanged } = this.#deps;
    const { slug, container, model } = file;
    const before = { revision: review.approval?.revision ?? null, status: review.status };
    const after = { revision: revisionOf(file), container: container ?? null, model };
    const deed = { ...target(slug), action: "cargo.approve", before, after };
    const approval = await trail.record(actor, deed, ({ catalog }) => cargos.approve(review, file, by, catalog));
    await onChanged?.();
    return approval;
  }

  /** Switches a Cargo off for everybody, or undoes that. @throws {ServiceError} `cargo_not_found` */
  async setDisabled(actor: Actor, slug: string, isDisabled: boolean): Promise<void> {
    const { cargos, trail, onChanged } = this.#deps;
    const deed = { ...target(slug), action: isDisabled ? "cargo.disable" : "cargo.enable" };
    await trail.record(actor, deed, ({ catalog }) => cargos.setDisabled(slug, isDisabled, catalog));
    await onChanged?.();
  }

  /** Sets the price of a shipped Cargo; null: the shipped one again. @throws {ServiceError} `cargo_not_found`, `bad_request`; {@link ValidationError} */
  async setPrice(actor: Actor, slug: string, credits: number | null): Promise<CargoReview> {
    const { cargos, trail, onChanged } = this.#deps;
    const before = { price: (await this.review(slug)).price };
    const deed = { ...target(slug), action: "cargo.price", before, after: { price: credits } };
    await trail.record(actor, deed, ({ catalog }) => cargos.setPrice(slug, credits, catalog));
    await onChanged?.();
    return this.review(slug);
  }

  async #pin(review: CargoReview, given: Pins): Promise<CargoReview> {
    const file = await this.#deps.resolvePins(review.file, given);
    return { ...review, file, revision: revisionOf(file) };
  }
}

const target = (targetId: string) => ({ targetKind: "cargo", targetId }) as const;
