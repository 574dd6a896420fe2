/** Returns a `fetch` that keeps a cookie, like a browser for the page's origin. */
export function fetchWithCookie(): { readonly fetch: typeof globalThis.fetch; readonly cookie: () => string } {
  let cookie = "";
  return {
    cookie: () => cookie,
    fetch: async (input, init) => {
      if (init?.credentials !== "same-origin") throw new Error("The request does not send the cookie");
      const headers = { ...(init.headers as Record<string, string>), ...(cookie === "" ? {} : { cookie }) };
      const response = await globalThis.fetch(input, { ...init, headers });
      for (const set of response.headers.getSetCookie()) cookie = /^[^=;]+=[^;]+/.exec(set)?.[0] ?? "";
      return response;
    },
  };
}
