import { CatalogError } from "../../../coordinator/catalog/load-catalog.ts";
import { SigningKeyError } from "../../../coordinator/islands/signing-key.ts";
import { DatabaseError } from "../../../coordinator/store/database-error.ts";
import { MigrationError } from "../../../coordinator/store/steps/migrations.ts";

/** Errors of the coordinator that the operator can fix. Only their message is shown. */
export const COORDINATOR_ERRORS = [CatalogError, DatabaseError, MigrationError, SigningKeyError];
