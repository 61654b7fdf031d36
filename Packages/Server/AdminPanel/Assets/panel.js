// Improves pages that work without it: keys, the menu on phones, times in the reader's zone, and what changes meanwhile.
"use strict";
(() => {
  const $ = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  // Texts in the language of the page, which brings their translations along.
  const translations = JSON.parse(document.body.dataset.words || "{}");
  const localized = (text, ...values) =>
    (translations[text] ?? text).replace(/\{(\d+)\}/g, (place, number) => values[number] ?? place);
  // A button with a word, and with what it's about for those who don't see what is around it.
  const button = (label, about, action) => {
    const [made, more] = ["button", "span"].map((tag) => document.createElement(tag));
    more.className = "hidden";
    more.textContent = `: ${about}`;
    made.type = "button";
    made.append(label, more);
    made.addEventListener("click", action);
    return made;
  };

  // The menu covers a phone's screen otherwise.
  const menu = $(".sections");
  if (menu && matchMedia("(max-width: 48rem)").matches) menu.open = false;

  // Times are in UTC on the page; the reader's own are a hover or a focus away.
  for (const time of all("time[datetime]")) {
    const date = new Date(time.dateTime);
    if (!isNaN(date)) time.title = date.toLocaleString(undefined, { dateStyle: "full", timeStyle: "long" });
  }

  // Requests of the API are copied, where the browser permits it.
  for (const request of navigator.clipboard ? all("pre.request") : []) {
    const copy = button(localized("Copy"), request.getAttribute("aria-label"), async () => {
      await navigator.clipboard.writeText(request.textContent);
      copy.firstChild.textContent = localized("Copied");
    });
    request.after(copy);
  }

  // What's chosen in a short list counts at once.
  for (const select of all("form.inline select")) {
    select.addEventListener("change", () => select.form.requestSubmit());
  }

  // A filter offers the tests and values that fit its field.
  const filter = $("#filter");
  if (filter) {
    const [field, test, value] = ["field", "test", "value"].map((name) => $(`#add-${name}`, filter));
    const plain = new Map([...test.options].map((option) => [option, option.textContent]));
    const fit = () => {
      const chosen = field.selectedOptions[0];
      const fitting = chosen.dataset.tests.split(" ");
      for (const option of test.options) {
        option.hidden = option.disabled = !fitting.includes(option.value);
        option.textContent = (chosen.hasAttribute("data-time") && option.dataset.time) || plain.get(option);
      }
      if (test.selectedOptions[0]?.disabled ?? true) test.value = fitting[0];
      value.disabled = test.selectedOptions[0].hasAttribute("data-takes-none");
      if (chosen.dataset.list) value.setAttribute("list", chosen.dataset.list);
      else value.removeAttribute("list");
    };
    for (const select of [field, test]) select.addEventListener("change", fit);
    fit();
  }

  // Texts in Markdown get buttons that write its marks, and a preview that the server makes.
  for (const area of all("textarea[data-markdown]")) {
    const replace = (from, to, text, [start, end]) => {
      area.focus();
      area.setSelectionRange(from, to);
      // Keeps what the browser can undo; not every browser can.
      if (!document.execCommand("insertText", false, text)) {
        area.setRangeText(text);
        area.dispatchEvent(new Event("input", { bubbles: true }));
      }
      area.setSelectionRange(start, end);
    };
    // Marks around what is selected, or takes them away.
    const around = (before, after = before) => () => {
      const [from, to, text] = [area.selectionStart, area.selectionEnd, area.value];
      const [start, end] = [from - before.length, to + after.length];
      if (start >= 0 && text.slice(start, from) === before && text.slice(to, end) === after) {
        replace(start, end, text.slice(from, to), [start, to - before.length]);
      } else {
        replace(from, to, before + text.slice(from, to) + after, [from + before.length, to + before.length]);
      }
    };
    // The same at the start of each line that is selected.
    const lines = (mark) => () => {
      const from = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
      const next = area.value.indexOf("\n", area.selectionEnd);
      const to = next < 0 ? area.value.length : next;
      const old = area.value.slice(from, to).split("\n");
      const isMarked = old.every((line) => line.startsWith(mark));
      const text = old.map((line) => (isMarked ? line.slice(mark.length) : mark + line)).join("\n");
      replace(from, to, text, old.length > 1 ? [from, from + text.length] : [from + text.length, from + text.length]);
    };
    const code = () => {
      const isLines = area.value.slice(area.selectionStart, area.selectionEnd).includes("\n");
      (isLines ? around("```\n", "\n```") : around("`"))();
    };
    const link = () => {
      const [from, to] = [area.selectionStart, area.selectionEnd];
      const [text, address] = [area.value.slice(from, to) || "text", "https://"];
      const end = from + text.length + 3 + address.length;
      replace(from, to, `[${text}](${address})`, [end, end]);
    };
    const tools = document.createElement("div");
    tools.className = "marks";
    tools.setAttribute("role", "group");
    tools.setAttribute("aria-label", localized("Format {0}", area.dataset.markdown));
    const tool = (name, action) => {
      const made = button(name, area.dataset.markdown, action);
      tools.append(made);
      return made;
    };
    for (const [name, action] of [
      [localized("Bold"), around("**")], [localized("Italic"), around("_")], [localized("Heading"), lines("## ")],
      [localized("Link"), link], [localized("List"), lines("- ")], [localized("Quote"), lines("> ")],
      [localized("Code"), code],
    ]) tool(name, action);
    area.addEventListener("keydown", (event) => {
      const action = { b: around("**"), i: around("_") }[event.key];
      if (!action || event.altKey || event.shiftKey || event.ctrlKey === event.metaKey) return;
      event.preventDefault();
      action();
    });

    const preview = document.createElement("div");
    preview.className = "preview markdown";
    preview.id = `p-${area.id}`;
    preview.hidden = true;
    preview.setAttribute("role", "region");
    preview.setAttribute("aria-label", localized("Preview of {0}", area.dataset.markdown));
    let asked = 0;
    const show = async () => {
      const number = ++asked;
      let nodes = [localized("The preview can't be shown at the moment.")];
      try {
        const body = new URLSearchParams({ _token: area.form.elements._token.value, text: area.value });
        const answer = await fetch("/panel/markdown", { method: "POST", body });
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (answer.status === 413) nodes = [localized("The text is too long to be formatted.")];
        else if (answer.ok && !answer.redirected) nodes = [...page.body.childNodes].map((node) => document.adoptNode(node));
      } catch { /* The next letter may find the server again. */ }
      if (number === asked) preview.replaceChildren(...(nodes.length ? nodes : [localized("The text is empty.")]));
    };
    const toggle = tool(localized("Preview"), () => {
      preview.hidden = !preview.hidden;
      toggle.setAttribute("aria-expanded", String(!preview.hidden));
      if (!preview.hidden) show();
    });
    toggle.setAttribute("aria-expanded", "false");
    toggle.setAttribute("aria-controls", preview.id);
    let waiting;
    area.addEventListener("input", () => {
      clearTimeout(waiting);
      if (!preview.hidden) waiting = setTimeout(show, 500);
    });
    area.before(tools);
    area.after(preview);
  }

  // Two fields that are a place get a map: a click on it, or a button, fills them. The server makes the maps.
  for (const place of all("div.place")) {
    const fields = [place.dataset.latitude, place.dataset.longitude].map((id) => document.getElementById(id));
    const name = fields.map((field) => field.labels[0].textContent.trim()).join(", ");
    const [tools, picture, words] = ["div", "div", "p"].map((tag) => document.createElement(tag));
    tools.className = "marks";
    words.className = "hint";
    words.setAttribute("role", "status");
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", localized("Map for {0}", name));
    let map = {};
    let asked = 0;
    // Whether there is a new map.
    const show = async (query) => {
      const number = ++asked;
      let figure = null;
      try {
        const answer = await fetch(`/panel/map?${new URLSearchParams(query)}`);
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (answer.ok && !answer.redirected) figure = $("figure", page);
      } catch { /* The next click may find the server again. */ }
      if (number !== asked) return false;
      if (!figure) words.textContent = localized("The map can't be shown at the moment.");
      if (!figure) return false;
      map = { ...figure.dataset };
      words.textContent = map.words ?? "";
      picture.replaceChildren(document.adoptNode(figure));
      return true;
    };
    const shown = () => (map.words ? { latitude: map.latitude, longitude: map.longitude } : {});
    const entered = () => ({ latitude: fields[0].value.trim(), longitude: fields[1].value.trim() });
    // A point of the map, in tiles from its upper left corner.
    const pick = async (x, y) => {
      if (!map.zoom || !(await show({ ...shown(), zoom: map.zoom, x, y }))) return;
      [fields[0].value, fields[1].value] = [map.latitude, map.longitude];
      for (const field of fields) field.dispatchEvent(new Event("input", { bubbles: true }));
    };
    const step = (x, y) => () => pick(Number(map.x) + x, Number(map.y) + y);
    const zoom = (by) => () => map.zoom && show({ ...shown(), zoom: Number(map.zoom) + by });
    for (const [label, action] of [
      [localized("Zoom in"), zoom(1)], [localized("Zoom out"), zoom(-1)],
      [localized("North"), step(0, -0.125)], [localized("South"), step(0, 0.125)],
      [localized("West"), step(-0.125, 0)], [localized("East"), step(0.125, 0)],
    ]) tools.append(button(label, name, action));
    picture.addEventListener("click", (event) => {
      const ground = event.target.closest(".ground");
      if (!ground) return;
      const box = ground.getBoundingClientRect();
      pick(((event.clientX - box.left) / box.width) * map.columns, ((event.clientY - box.top) / box.height) * map.rows);
    });
    for (const field of fields) {
      field.addEventListener("change", () => show(map.words ? { ...entered(), zoom: map.zoom } : entered()));
    }
    place.append(tools, picture, words);
    show(entered());
  }

  // A form is sent once.
  for (const form of all("form[method=post]")) {
    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) return event.preventDefault();
      form.dataset.sent = "yes";
    });
  }
  addEventListener("pageshow", () => all("form[data-sent]").forEach((form) => delete form.dataset.sent));

  // What the page shows has changed: it says so, and loads anew when it's asked to.
  const live = $("#live");
  if (document.body.dataset.watches && live && window.EventSource) {
    const source = new EventSource(document.body.dataset.watches);
    const say = (text, label) => {
      source.close();
      const box = document.createElement("div");
      box.className = "notice";
      const words = document.createElement("p");
      words.textContent = text;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = label;
      button.addEventListener("click", () => location.reload());
      box.append(words, button);
      live.append(box);
    };
    source.addEventListener("changed", () => say(localized("The data on this page has changed."), localized("Reload")));
    source.addEventListener("ended", () => say(localized("Your session has ended."), localized("Log in again")));
    source.addEventListener("renewed", () =>
      say(localized("You entered your password or a code in another window."), localized("Reload")));
    addEventListener("pagehide", () => source.close());
  }
  // A long job goes on by itself, until somebody goes elsewhere.
  const further = $("form[data-auto-submit]");
  if (further) setTimeout(() => further.requestSubmit(), 300);

  // Rows are ticked all at once, and counted.
  const ticks = all("input[form=bulk][name=id]");
  const tickAll = $("#tick-all");
  if (tickAll && ticks.length) {
    const which = $("#bulk-which");
    const count = () => {
      const number = ticks.filter((tick) => tick.checked).length;
      tickAll.checked = number === ticks.length;
      tickAll.indeterminate = number > 0 && number < ticks.length;
      $("#bulk-count").textContent = number ? localized("{0} ticked", number) : "";
    };
    tickAll.hidden = false;
    tickAll.addEventListener("change", () => {
      for (const tick of ticks) tick.checked = tickAll.checked;
      count();
    });
    for (const tick of ticks) {
      // Who ticks means what is ticked.
      tick.addEventListener("change", () => { which.value = "chosen"; count(); });
    }
    addEventListener("pageshow", count);
  }
  // Who enters a value means that it's to be changed.
  for (const group of all("[data-set]")) {
    group.addEventListener("input", (event) => {
      const tick = $("input[type=checkbox]", group);
      if (tick && event.target !== tick) tick.checked = true;
    });
  }

  // How far a job is, until it ends.
  const follow = async () => {
    const shown = $("[data-follow]");
    if (!shown) return;
    let page = null;
    try {
      const answer = await fetch(location.href);
      // The login has ended, as it may when a backup was restored: the browser asks for another.
      if (answer.redirected) return location.reload();
      if (answer.ok) page = new DOMParser().parseFromString(await answer.text(), "text/html");
    } catch { /* The next look may find the server again. */ }
    const now = page && page.getElementById(shown.id);
    if (now && now.dataset.follow !== undefined) {
      shown.replaceWith(document.adoptNode(now));
    } else if (now) {
      const [whole, ended] = [$("#job"), page.getElementById("job")];
      const hadFocus = whole.contains(document.activeElement);
      whole.replaceWith(document.adoptNode(ended));
      if (hadFocus) $("#content").focus();
    }
    setTimeout(follow, 1000);
  };
  setTimeout(follow, 1000);

  // What was entered and isn't saved yet stays in this browser: of the latest forms, for a week, until it's saved or somebody
  // logs out. No passwords, files or tokens, and only for the person and the version of the object that it was entered for.
  const drafts = {
    prefix: "draft ", limit: 20, byteLimit: 65536, age: 7 * 24 * 3600 * 1000,
    keys: () => Object.keys(localStorage).filter((key) => key.startsWith(drafts.prefix)),
    read: (key) => { try { return JSON.parse(localStorage.getItem(key)); } catch { return null; } },
    clear: (keys) => keys.forEach((key) => localStorage.removeItem(key)),
    tidy: () => {
      const all = drafts.keys().map((key) => [key, drafts.read(key)?.at ?? 0]).sort((one, two) => two[1] - one[1]);
      drafts.clear(all.filter(([, at], place) => place >= drafts.limit || at < Date.now() - drafts.age).map(([key]) => key));
    },
    // What the form says, without what only the page itself says.
    fields: (form) => [...new FormData(form)].filter(([name, value]) =>
      typeof value === "string" && /^[fgnia]\./.test(name) && !all("[type=password]", form).some((item) => item.name === name)),
    keep: (key, form) => {
      const text = JSON.stringify({ at: Date.now(), fields: drafts.fields(form) });
      if (text.length > drafts.byteLimit) return;
      try { localStorage.setItem(key, text); drafts.tidy(); } catch { /* The browser keeps nothing, or is full. */ }
    },
  };
  for (const form of all("form[action='/panel/logout']")) form.addEventListener("submit", () => drafts.clear(drafts.keys()));
  // A page without a problem after a form was sent: it was saved.
  const sent = sessionStorage.getItem("draft-sent");
  sessionStorage.removeItem("draft-sent");
  if (sent && !$(".problem") && !$("form[data-draft]")) drafts.clear([sent]);
  const drafted = $("form[data-draft]");
  if (drafted) {
    const key = drafts.prefix + drafted.dataset.draft;
    const shown = JSON.stringify(drafts.fields(drafted));
    const found = drafts.read(key);
    drafts.tidy();
    if (drafted.dataset.fresh !== undefined && Array.isArray(found?.fields) && JSON.stringify(found.fields) !== shown) {
      const box = document.createElement("div");
      box.className = "notice";
      const words = document.createElement("p");
      words.textContent = localized("You have an unsaved draft of this form from {0}.", new Date(found.at).toLocaleString());
      const [restore, discard] = [localized("Restore the draft"), localized("Discard")].map((label) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = label;
        return button;
      });
      // The server makes the form again with what was entered, as for the buttons of lists.
      restore.addEventListener("click", () => {
        for (const item of [...drafted.elements]) if (/^[fgnia]\./.test(item.name) && item.type !== "file") item.remove();
        for (const [name, value] of [...found.fields, ["_find", ""]]) {
          const item = document.createElement("input");
          [item.type, item.name, item.value] = ["hidden", name, value];
          drafted.append(item);
        }
        HTMLFormElement.prototype.submit.call(drafted);
      });
      discard.addEventListener("click", () => { drafts.clear([key]); box.remove(); $("#content").focus(); });
      box.append(words, restore, discard);
      drafted.before(box);
    }
    drafted.addEventListener("input", () => drafts.keep(key, drafted));
    // A form that came back has what isn't saved.
    if (drafted.dataset.fresh === undefined) drafts.keep(key, drafted);
    drafted.addEventListener("submit", (event) => {
      const name = event.submitter?.name;
      if (!["_do", "_find", "_with"].includes(name)) sessionStorage.setItem("draft-sent", key);
    });
  }

  // A statement is run from where it's written.
  $("textarea[data-run]")?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.target.form.requestSubmit();
  });

  // Keys: the page /panel/help lists them.
  let prefix = "";
  const go = (address) => { if (address) location.href = address; };
  const row = (step) => {
    const links = all("table.list tbody th a");
    const place = links.indexOf(document.activeElement);
    const next = links[place < 0 ? (step > 0 ? 0 : links.length - 1) : place + step];
    if (next) next.focus();
  };
  const keys = {
    "/": () => $("#q")?.focus(),
    "?": () => go("/panel/help"),
    j: () => row(1), k: () => row(-1),
    n: () => go($("a[rel=next]")?.href), p: () => go($("a[rel=prev]")?.href),
    e: () => $("#edit")?.click(),
    x: () => $("input[form=bulk]", document.activeElement.closest("tr") ?? document.createElement("tr"))?.click(),
    "g o": () => go("/panel"), "g h": () => go("/panel/help"),
  };
  // Who types by voice, or meets keys by accident, can do without them.
  const silent = () => localStorage.getItem("keys") === "off";
  const keySwitch = $("#keys-switch");
  if (keySwitch) {
    const name = () => { keySwitch.textContent = silent() ? localized("Switch the keys on") : localized("Switch the keys off"); };
    keySwitch.hidden = false;
    keySwitch.addEventListener("click", () => { localStorage.setItem("keys", silent() ? "on" : "off"); name(); });
    name();
  }
  addEventListener("keydown", (event) => {
    if (silent()) return;
    const at = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (at.closest("input, select, textarea, [contenteditable]")) return;
    const name = prefix + event.key;
    prefix = event.key === "g" && prefix === "" ? "g " : "";
    if (!keys[name]) return;
    event.preventDefault();
    keys[name]();
  });
})();
