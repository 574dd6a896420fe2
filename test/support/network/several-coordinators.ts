import { IS_POSTGRES } from "../servers/test-store-server.ts";

/** How many coordinators serve what a test opens; one when it is not set. */
const CHOICE = "ATOLL_TEST_COORDINATORS";

export const COORDINATORS = Number(process.env[CHOICE] ?? "1");
export const ARE_SEVERAL = COORDINATORS > 1;

if (!Number.isInteger(COORDINATORS) || COORDINATORS < 1 || COORDINATORS > 9)
  throw new Error(`${CHOICE} is a number from 1 to 9`);
if (ARE_SEVERAL && !IS_POSTGRES) throw new Error(`${CHOICE} needs ATOLL_TEST_STORE=postgres: they share a database`);

/** A test that does not hold when its requests go to several coordinators: `why` stands in its title. */
export function unlessSeveral(title: string, why: string): [title: string, options: { readonly skip: boolean }] {
  return ARE_SEVERAL ? [`${title} [${COORDINATORS} coordinators: ${why}]`, { skip: true }] : [title, { skip: false }];
}
