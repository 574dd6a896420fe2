import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Utility } from "./utility.ts";

const utility = new Utility("markdown-to-html");
const render = (markdown: string): string => utility.output<{ html: string }>({ markdown }).html;

/** All tags that may ever come out, closing ones too. */
const TAG =
  /<\/?(?:p|h[1-6]|em|strong|code|pre|blockquote|ul|ol|li|a|img|hr|br)(?: (?:href|src|alt|title|class|start)="[^"<>]*")*(?: \/)?>/g;

describe("markdown-to-html", () => {
  // Examples of the CommonMark 0.31.2 specification, by their numbers.
  it.each([
    [1, "\tfoo\tbaz\t\tbim", "<pre><code>foo\tbaz\t\tbim\n</code></pre>\n"],
    [4, "  - foo\n\n\tbar", "<ul>\n<li>\n<p>foo</p>\n<p>bar</p>\n</li>\n</ul>\n"],
    [43, "***\n---\n___", "<hr />\n<hr />\n<hr />\n"],
    [57, "- foo\n***\n- bar", "<ul>\n<li>foo</li>\n</ul>\n<hr />\n<ul>\n<li>bar</li>\n</ul>\n"],
    [62, "# foo\n## foo\n###### foo", "<h1>foo</h1>\n<h2>foo</h2>\n<h6>foo</h6>\n"],
    [63, "####### foo", "<p>####### foo</p>\n"],
    [64, "#5 bolt\n\n#hashtag", "<p>#5 bolt</p>\n<p>#hashtag</p>\n"],
    [71, "## foo ##\n  ###   bar    ###", "<h2>foo</h2>\n<h3>bar</h3>\n"],
    [75, "# foo#", "<h1>foo#</h1>\n"],
    [79, "## \n#\n### ###", "<h2></h2>\n<h1></h1>\n<h3></h3>\n"],
    [80, "Foo *bar*\n=========\n\nFoo *bar*\n---------", "<h1>Foo <em>bar</em></h1>\n<h2>Foo <em>bar</em></h2>\n"],
    [107, "    a simple\n      indented code block", "<pre><code>a simple\n  indented code block\n</code></pre>\n"],
    [
      111,
      "    chunk1\n\n    chunk2\n  \n \n \n    chunk3",
      "<pre><code>chunk1\n\nchunk2\n\n\n\nchunk3\n</code></pre>\n",
    ],
    [119, "```\n<\n >\n```", "<pre><code>&lt;\n &gt;\n</code></pre>\n"],
    [122, "```\naaa\n~~~\n```", "<pre><code>aaa\n~~~\n</code></pre>\n"],
    [124, "````\naaa\n```\n``````", "<pre><code>aaa\n```\n</code></pre>\n"],
    [126, "```", "<pre><code></code></pre>\n"],
    [133, "   ```\n   aaa\n    aaa\n  aaa\n   ```", "<pre><code>aaa\n aaa\naaa\n</code></pre>\n"],
    [142, "```ruby startline=3\ndef foo(x)\n```", '<pre><code class="language-ruby">def foo(x)\n</code></pre>\n'],
    [219, "aaa\n\nbbb", "<p>aaa</p>\n<p>bbb</p>\n"],
    [226, "aaa     \nbbb     ", "<p>aaa<br />\nbbb</p>\n"],
    [228, "> # Foo\n> bar\n> baz", "<blockquote>\n<h1>Foo</h1>\n<p>bar\nbaz</p>\n</blockquote>\n"],
    [233, "> bar\nbaz\n> foo", "<blockquote>\n<p>bar\nbaz\nfoo</p>\n</blockquote>\n"],
    [234, "> foo\n---", "<blockquote>\n<p>foo</p>\n</blockquote>\n<hr />\n"],
    [
      250,
      "> > > foo\nbar",
      "<blockquote>\n<blockquote>\n<blockquote>\n<p>foo\nbar</p>\n</blockquote>\n</blockquote>\n</blockquote>\n",
    ],
    [
      254,
      "1.  A paragraph\n    with two lines.\n\n        indented code\n\n    > A block quote.",
      "<ol>\n<li>\n<p>A paragraph\nwith two lines.</p>\n<pre><code>indented code\n</code></pre>\n<blockquote>\n<p>A block quote.</p>\n</blockquote>\n</li>\n</ol>\n",
    ],
    [265, "123456789. ok", '<ol start="123456789">\n<li>ok</li>\n</ol>\n'],
    [266, "1234567890. not ok", "<p>1234567890. not ok</p>\n"],
    [281, "- foo\n-\n- bar", "<ul>\n<li>foo</li>\n<li></li>\n<li>bar</li>\n</ul>\n"],
    [285, "foo\n*\n\nfoo\n1.", "<p>foo\n*</p>\n<p>foo\n1.</p>\n"],
    [
      294,
      "- foo\n  - bar\n    - baz\n      - boo",
      "<ul>\n<li>foo\n<ul>\n<li>bar\n<ul>\n<li>baz\n<ul>\n<li>boo</li>\n</ul>\n</li>\n</ul>\n</li>\n</ul>\n</li>\n</ul>\n",
    ],
    [299, "1. - 2. foo", '<ol>\n<li>\n<ul>\n<li>\n<ol start="2">\n<li>foo</li>\n</ol>\n</li>\n</ul>\n</li>\n</ol>\n'],
    [301, "- foo\n- bar\n+ baz", "<ul>\n<li>foo</li>\n<li>bar</li>\n</ul>\n<ul>\n<li>baz</li>\n</ul>\n"],
    [
      304,
      "The number of windows in my house is\n14.  The number of doors is 6.",
      "<p>The number of windows in my house is\n14.  The number of doors is 6.</p>\n",
    ],
    [
      306,
      "- foo\n\n- bar\n\n\n- baz",
      "<ul>\n<li>\n<p>foo</p>\n</li>\n<li>\n<p>bar</p>\n</li>\n<li>\n<p>baz</p>\n</li>\n</ul>\n",
    ],
    [
      319,
      "- a\n  - b\n\n    c\n- d",
      "<ul>\n<li>a\n<ul>\n<li>\n<p>b</p>\n<p>c</p>\n</li>\n</ul>\n</li>\n<li>d</li>\n</ul>\n",
    ],
    [300, "- # Foo\n- Bar\n  ---\n  baz", "<ul>\n<li>\n<h1>Foo</h1>\n</li>\n<li>\n<h2>Bar</h2>\nbaz</li>\n</ul>\n"],
    [298, "- - foo", "<ul>\n<li>\n<ul>\n<li>foo</li>\n</ul>\n</li>\n</ul>\n"],
    [14, "\\*not emphasized*\n\\<br/> not a tag", "<p>*not emphasized*\n&lt;br/&gt; not a tag</p>\n"],
    [16, "foo\\\nbar", "<p>foo<br />\nbar</p>\n"],
    [329, "`` foo ` bar ``", "<p><code>foo ` bar</code></p>\n"],
    [338, "`foo\\`bar`", "<p><code>foo\\</code>bar`</p>\n"],
    [341, "*foo`*`", "<p>*foo<code>*</code></p>\n"],
    [349, "`foo``bar``", "<p>`foo<code>bar</code></p>\n"],
    [350, "*foo bar*", "<p><em>foo bar</em></p>\n"],
    [351, "a * foo bar*", "<p>a * foo bar*</p>\n"],
    [355, "foo*bar*", "<p>foo<em>bar</em></p>\n"],
    [360, "foo_bar_", "<p>foo_bar_</p>\n"],
    [361, "пристаням_стремятся_", "<p>пристаням_стремятся_</p>\n"],
    [368, "*(*foo*)*", "<p><em>(<em>foo</em>)</em></p>\n"],
    [404, "*foo [bar](/url)*", '<p><em>foo <a href="/url">bar</a></em></p>\n'],
    [411, "*foo**bar**baz*", "<p><em>foo<strong>bar</strong>baz</em></p>\n"],
    [412, "*foo**bar*", "<p><em>foo**bar</em></p>\n"],
    [413, "***foo** bar*", "<p><em><strong>foo</strong> bar</em></p>\n"],
    [416, "foo***bar***baz", "<p>foo<em><strong>bar</strong></em>baz</p>\n"],
    [417, "foo******bar*********baz", "<p>foo<strong><strong><strong>bar</strong></strong></strong>***baz</p>\n"],
    [443, "**foo*", "<p>*<em>foo</em></p>\n"],
    [447, "*foo****", "<p><em>foo</em>***</p>\n"],
    [467, "***foo***", "<p><em><strong>foo</strong></em></p>\n"],
    [470, "*foo _bar* baz_", "<p><em>foo _bar</em> baz_</p>\n"],
    [472, "**foo **bar baz**", "<p>**foo <strong>bar baz</strong></p>\n"],
    [482, '[link](/uri "title")', '<p><a href="/uri" title="title">link</a></p>\n'],
    [485, "[link]()", '<p><a href="">link</a></p>\n'],
    [488, "[link](/my uri)", "<p>[link](/my uri)</p>\n"],
    [489, "[link](</my uri>)", '<p><a href="/my%20uri">link</a></p>\n'],
    [496, "[link](foo(and(bar)))", '<p><a href="foo(and(bar))">link</a></p>\n'],
    [506, '[link](/url "title \\"&quot;")', '<p><a href="/url" title="title &quot;&amp;quot;">link</a></p>\n'],
    [512, "[link [foo [bar]]](/uri)", '<p><a href="/uri">link [foo [bar]]</a></p>\n'],
    [518, "[foo [bar](/uri)](/uri)", '<p>[foo <a href="/uri">bar</a>](/uri)</p>\n'],
    [520, "![[[foo](uri1)](uri2)](uri3)", '<p><img src="uri3" alt="[foo](uri2)" /></p>\n'],
    [521, "*[foo*](/uri)", '<p>*<a href="/uri">foo*</a></p>\n'],
    [572, '![foo](/url "title")', '<p><img src="/url" alt="foo" title="title" /></p>\n'],
    [574, "![foo ![bar](/url)](/url2)", '<p><img src="/url2" alt="foo bar" /></p>\n'],
    [594, "<http://foo.bar.baz>", '<p><a href="http://foo.bar.baz">http://foo.bar.baz</a></p>\n'],
    [604, "<foo@bar.example.com>", '<p><a href="mailto:foo@bar.example.com">foo@bar.example.com</a></p>\n'],
    [609, "< https://foo.bar >", "<p>&lt; https://foo.bar &gt;</p>\n"],
    [633, "foo  \nbaz", "<p>foo<br />\nbaz</p>\n"],
    [648, "foo\nbaz", "<p>foo\nbaz</p>\n"],
  ])("renders example %i", (_number, markdown, html) => {
    expect(render(markdown)).toBe(html);
  });
  it("shows HTML and character references as they were written", () => {
    expect(render('<script>alert("1")</script> &amp; <b onclick=x>')).toBe(
      "<p>&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp;amp; &lt;b onclick=x&gt;</p>\n",
    );
  });
  it.each([
    "[words](javascript:alert(1))",
    "[words](JaVaScRiPt:alert(1))",
    "[words](<java\tscript:alert(1)>)",
    "[words](java\\script:x)",
    "[words](data:text/html,x)",
    "[words](vbscript:x)",
    "[words](\\javascript:x)",
    "[words](file:///etc/passwd)",
    "![words](javascript:x)",
    "![words](data:image/svg+xml,x)",
  ])("leaves only the words of %j", (markdown) => {
    expect(render(markdown)).toBe("<p>words</p>\n");
  });
  it.each([
    ["<javascript:alert(1)>", "<p>&lt;javascript:alert(1)&gt;</p>\n"],
    ["[a](javascript&colon;alert(1))", '<p><a href="javascript&amp;colon;alert(1)">a</a></p>\n'],
    ['[a](x"onmouseover=y)', '<p><a href="x%22onmouseover=y">a</a></p>\n'],
    ["[a](/x '\"><script>')", '<p><a href="/x" title="&quot;&gt;&lt;script&gt;">a</a></p>\n'],
    ['```"><script>\n```', '<pre><code class="language-&quot;&gt;&lt;script&gt;"></code></pre>\n'],
  ])("makes nothing dangerous of %j", (markdown, html) => {
    expect(render(markdown)).toBe(html);
  });
  it("makes nothing but its own tags, each closed in the right order, whatever comes", () => {
    const piece = fc.constantFrom(
      ...[
        "*",
        "**",
        "_",
        "`",
        "```\n",
        "[",
        "](",
        ")",
        "![",
        "<",
        ">",
        '"',
        "'",
        "\\",
        "\n",
        "\n\n",
        "  \n",
        "- ",
        "1. ",
        "> ",
        "# ",
        "---\n",
      ],
      ...["    ", "\t", "a", "é", "&", "javascript:", "http://x", "<b>", "=", "]"],
    );
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 40 }), (pieces) => {
        const html = render(pieces.join(""));
        expect(html.replaceAll(TAG, "")).not.toMatch(/[<>"]/);
        expect(html).not.toMatch(/(?:href|src)="\s*javascript:/i);
        const open: string[] = [];
        for (const [tag] of html.matchAll(TAG)) {
          const name = /\w+/.exec(tag)?.[0] ?? "";
          if (tag.startsWith("</")) expect(open.pop()).toBe(name);
          else if (!tag.endsWith("/>")) open.push(name);
        }
        expect(open).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
  it.each([
    ["quotes", ">".repeat(200_000)],
    ["nested lists", "- ".repeat(100_000)],
    ["open brackets", "[".repeat(200_000)],
    ["links that never end", "[](a".repeat(50_000)],
    ["images in images", "![".repeat(50_000) + "a](b)".repeat(20_000)],
    ["stars", "*".repeat(200_000)],
    ["runs that open and close", "a*b_".repeat(50_000)],
    ["backticks of many lengths", Array.from({ length: 600 }, (_, at) => "`".repeat(at + 1)).join(" ")],
    ["lines in quotes", "> a\n".repeat(45_000)],
    ["code in deep lists", `${"- ".repeat(40)}a\n${"\n".repeat(40_000)}${" ".repeat(64)}b`],
  ])("is not made slow or large by %s", (_what, markdown) => {
    const { lines } = utility.raw(JSON.stringify({ markdown }));
    expect(lines.map((line) => line.type)).toEqual(["done"]);
  });
  it("refuses more than 50,000 lines", () => {
    expect(utility.error({ markdown: "\n".repeat(50_001) })).toContain("50000 lines");
  });
});
