import type { calls } from "./openapi.ts";

/**
 * HTTP method of a call. The types in this file come from the OpenAPI document, so calls that do not match the document
 * do not compile.
 */

export type Method = "get" | "post" | "put" | "patch" | "delete";
type PathOf<Call> = Call extends `${Method} ${infer Path}` ? Path : never;
/** A path of the API, below /api/v1. */
export type ApiPath = PathOf<keyof calls>;
export type Operation<M extends Method, P extends ApiPath> = `${M} ${P}` extends keyof calls
  ? calls[`${M} ${P}`]
  : never;

type Parameters<O> = O extends { parameters: infer All } ? All : never;
type Parameter<O, Where extends string> = Where extends keyof Parameters<O> ? NonNullable<Parameters<O>[Where]> : never;
type Optional<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

type RequestBody<O> = O extends { requestBody?: infer Body } ? NonNullable<Body> : never;
type JsonOf<Content> = Content extends { "application/json": infer Json } ? Json : never;
export type BodyOf<O> = JsonOf<RequestBody<O>>;
export type QueryOf<O> = Optional<Parameter<O, "query">>;

type Part<Name extends string, Value> = [Value] extends [never] ? unknown : Record<Name, Value>;
/** Arguments of a call: path parameters, query and body, if the operation has them. */
export type PartsOf<O> = Part<"path", Parameter<O, "path">> &
  ([Parameter<O, "query">] extends [never] ? unknown : { readonly query?: QueryOf<O> }) &
  Part<"body", BodyOf<O>>;

type Responses<O> = O extends { responses: infer All } ? All : never;
type Success<O> = Responses<O>[keyof Responses<O> & (200 | 201 | 202)];
/** JSON of a successful response. */
export type AnswerOf<O> = JsonOf<Success<O>>;
