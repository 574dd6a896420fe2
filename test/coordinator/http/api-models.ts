import type { HttpDeps } from "../../../coordinator/http/http-deps.ts";
import type { AvailableCargo } from "../../../coordinator/islands/cargo-availability.ts";
import type { CargoSpeed } from "../../../coordinator/metrics/cargo-speeds.ts";
import { measureHttp } from "../../../coordinator/metrics/metrics.ts";

/** Availability and speed of Cargos for the API. */
export class ApiModels {
  available: readonly AvailableCargo[] = [];
  speed: CargoSpeed = { tokensPerSecond: null, firstTokenMs: null };

  get deps(): Pick<HttpDeps, "availability" | "metrics"> {
    const speedOf = (): CargoSpeed => this.speed;
    return {
      availability: { of: async () => ({ cargos: this.available, isComplete: true }) },
      metrics: { contentType: "text/plain", read: async () => "", http: measureHttp(), speedOf },
    };
  }
}
