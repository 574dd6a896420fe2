import type { Http } from "../http.ts";
import { OperatorAccounts } from "./operator-accounts.ts";
import { OperatorCargos } from "./operator-cargos.ts";
import { OperatorIslands } from "./operator-islands.ts";
import { Pages } from "../pages.ts";
import type {
  AddAnnouncement,
  Announcement,
  AuditFilter,
  AuditLine,
  KnownJob,
  KnownJobFilter,
  KnownStanding,
  NetworkOverview,
  NetworkQueue,
  SetStanding,
  SettingInForce,
  StandingFilter,
} from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

/**
 * Operations for operators. They require the session token of an operator; an API key gets {@link
 * PermissionDeniedError}.
 */
export class Operator {
  readonly accounts: OperatorAccounts;
  readonly cargos: OperatorCargos;
  readonly islands: OperatorIslands;
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
    this.accounts = new OperatorAccounts(http);
    this.cargos = new OperatorCargos(http);
    this.islands = new OperatorIslands(http);
  }

  /** Returns an overview of the network, at most a second old. */
  async overview(options?: CallOptions): Promise<NetworkOverview> {
    return (await this.#http.call("get", "/operator/overview", {}, options)).data;
  }

  /** Returns the number of waiting jobs by Cargo and reason, the largest first. */
  queue(options?: CallOptions): Promise<NetworkQueue> {
    return this.#http.call("get", "/operator/queue", {}, options);
  }

  /** Lists jobs of all accounts, newest first. */
  jobs({ pageSize: limit = 100, status, ...filter }: KnownJobFilter = {}, options?: CallOptions): Pages<KnownJob> {
    const query = { ...filter, limit, status: status?.join(",") };
    const load = (offset: number) => this.#http.call("get", "/operator/jobs", { query: { ...query, offset } }, options);
    return new Pages(load, ({ id }) => id);
  }

  /** Lists the standings of owners with Cargos, the latest change first. */
  standings({ pageSize: limit = 100, ...filter }: StandingFilter = {}, options?: CallOptions): Pages<KnownStanding> {
    const load = (offset: number) =>
      this.#http.call("get", "/operator/standings", { query: { ...filter, limit, offset } }, options);
    return new Pages(load, ({ account_id: id, cargo }) => `${id}/${cargo}`);
  }

  /** Sets the standing of an owner with a Cargo. The owner sees the reason. */
  async setStanding(
    account: string,
    cargo: string,
    standing: SetStanding,
    options?: CallOptions,
  ): Promise<KnownStanding> {
    const parts = { path: { account, cargo }, body: standing };
    return (await this.#http.call("put", "/operator/standings/{account}/{cargo}", parts, options)).data;
  }

  /** Audits an ended job again, or for the first time. `verification` of the job has the verdict. */
  async auditJob(id: string, options?: CallOptions): Promise<void> {
    await this.#http.call("post", "/operator/jobs/{id}/audit", { path: { id } }, options);
  }

  /** Lists the audit log of operators' actions, newest first. */
  audit({ pageSize: limit = 100, ...filter }: AuditFilter = {}, options?: CallOptions): Pages<AuditLine> {
    const load = (offset: number) =>
      this.#http.call("get", "/operator/audit", { query: { ...filter, limit, offset } }, options);
    return new Pages(load, ({ id }) => id);
  }

  /** Lists the settings in force at the coordinator that responds, without secrets. */
  async settings(options?: CallOptions): Promise<readonly SettingInForce[]> {
    return (await this.#http.call("get", "/operator/settings", {}, options)).data;
  }

  /** Publishes an announcement to all users. */
  async announce(announcement: AddAnnouncement, options?: CallOptions): Promise<Announcement> {
    return (await this.#http.call("post", "/operator/announcements", { body: announcement }, options)).data;
  }

  async removeAnnouncement(id: string, options?: CallOptions): Promise<void> {
    await this.#http.call("delete", "/operator/announcements/{id}", { path: { id } }, options);
  }
}
