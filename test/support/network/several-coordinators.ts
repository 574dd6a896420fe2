import { IS_POSTGRES } from "../servers/test-store-server.ts";

/** Number of coordinators per test network. Default: 1. */
const CHOICE = "ATOLL_TEST_COORDINATORS";

export const COORDINATORS = Number(process.env[CHOICE] ?? "1");
export const ARE_SEVERAL = COORDINATORS > 1;

if (!Number.isInteger(COORDINATORS) || COORDINATORS < 1 || COORDINATORS > 9)
  throw new Error(`${CHOICE} must be a number from 1 to 9`);
if (ARE_SEVERAL && !IS_POSTGRES)
  throw new Error(`${CHOICE} needs ATOLL_TEST_STORE=postgres: the coordinators share a database`);

/** Marks a test that does not apply if requests go to several coordinators. `why` is part of its title. */
export function unlessSeveral(title: string, why: string): [title: string, options: { readonly skip: boolean }] {
  return ARE_SEVERAL ? [`${title} [${COORDINATORS} coordinators: ${why}]`, { skip: true }] : [title, { skip: false }];
}
