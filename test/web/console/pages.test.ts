import { expect, it } from "vitest";
import { CONSOLE_PAGES } from "../../../coordinator/http/routes/front-door.ts";
import { ROUTES } from "../../../web/src/app/routes.tsx";
import { currentItem, NAVIGATION } from "../../../web/src/app/navigation.ts";

it("the coordinator serves the console at the first path segment of every page", () => {
  const segments = new Set(ROUTES.map(({ path }) => path.split("/")[1] ?? "").filter((segment) => segment !== ""));
  expect([...segments].toSorted()).toEqual(CONSOLE_PAGES.toSorted());
});

it("every menu item leads to an existing page and is current there", () => {
  const items = NAVIGATION.flatMap(({ items }) => items.map(({ to }) => to));
  for (const to of items) {
    expect(ROUTES.map(({ path }) => path)).toContain(to);
    expect(currentItem(to)).toBe(to);
  }
  expect(currentItem("/islands/add")).toBe("/islands/add");
  expect(currentItem("/islands/0b5c")).toBe("/islands");
  expect(currentItem("/playground")).toBe("/");
  expect(currentItem("/account")).toBeNull();
});
