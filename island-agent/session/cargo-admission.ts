import type { CargoManifest } from "../../shared/cargo.ts";
import type { JobErrorCode } from "../../shared/errors.ts";
import { describeDisallowed, disallowedBy, type OwnerPolicy } from "../../shared/owner-policy.ts";
import type { Logger } from "../../shared/logger.ts";
import { openCargoTrust, type ReceivedCargo } from "./cargo-trust.ts";

export interface AdmissionOptions {
  /** The coordinator's public key, pinned at join; base64. Cargos without its signature do not run. */
  readonly publicKey: string;
  /** Account that owns the Island; null when unknown. Then no Cargo that belongs to an account runs. */
  readonly accountId: string | null;
  /** The owner's setting `cargos.signed_by`; null if only the pinned key is required. */
  readonly signedBy: readonly string[] | null;
  readonly policy: () => OwnerPolicy;
  /** Engines of the host. For the Cargos that they serve, the policy of the runtime `engine` applies. */
  readonly engines: { readonly serves: (cargo: CargoManifest) => boolean };
}

/** Reason to reject a Cargo. The codes are known to coordinators of all versions. */
interface CargoRefusal {
  readonly code: JobErrorCode;
  readonly message: string;
}

/**
 * Decides which Cargos this Island accepts: signed ones that its owner allows.
 * @throws {RangeError} for an invalid key.
 */
export function openCargoAdmission({ publicKey, accountId, signedBy, policy, engines }: AdmissionOptions, log: Logger) {
  const trust = openCargoTrust(publicKey, accountId, log, signedBy);

  /** Returns why the Cargo must not run or be downloaded; null when it may. */
  function refusalOf(received: ReceivedCargo): CargoRefusal | null {
    const { cargo } = received;
    const message = trust.problemOf(received);
    if (message !== null) return { code: "manifest_untrusted", message };
    // `CargoTrust` has already checked the signatures that the owner requires.
    const onEngine = engines.serves(cargo) ? { ...cargo, runtimeType: "engine" as const } : cargo;
    const what = disallowedBy(policy(), onEngine, true);
    if (what === null) return null;
    const why = `This Island's owner does not allow ${describeDisallowed(what, onEngine)}`;
    return { code: "island_refused", message: why };
  }

  return { refusalOf, changeOf: trust.changeOf };
}

export type CargoAdmission = ReturnType<typeof openCargoAdmission>;
