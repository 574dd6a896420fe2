import type { Downloads } from "@atoll/client";
import { api } from "../app/api.ts";
import { BASE_URL } from "../app/base.ts";
import { useResource, type Resource } from "../app/resource.ts";

/** The packages that the coordinator serves. */
export function useDownloads(): Resource<Downloads> {
  return useResource((signal) => api().downloads({ signal }), []);
}

/** Where other machines reach the coordinator, without a slash at the end: the operator's setting, else as this page does. */
export function addressFor({ public_url: publicUrl }: Downloads): string {
  return (publicUrl ?? BASE_URL.href).replace(/\/$/, "");
}
