import type { Downloads } from "@atoll/client";
import { api } from "../app/api.ts";
import { BASE_URL } from "../app/base.ts";
import { useResource, type Resource } from "../app/resource.ts";

/** Reads the packages that the coordinator serves. */
export function useDownloads(): Resource<Downloads> {
  return useResource((signal) => api().downloads({ signal }), []);
}

/**
 * Returns the coordinator's address for other machines, without a final slash: `public_url` if set, else this page's
 * address.
 */
export function addressFor({ public_url: publicUrl }: Downloads): string {
  return (publicUrl ?? BASE_URL.href).replace(/\/$/, "");
}
