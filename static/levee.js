// Conveniences only: every page works without this file.
"use strict";
document.documentElement.classList.add("js");

// "/" goes to the page's search, unless a person is writing.
document.addEventListener("keydown", (event) => {
  const writing = event.target.closest("input, textarea, select, [contenteditable]");
  const search = document.querySelector("input[type=search]");
  if (event.key !== "/" || writing || !search || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  search.select();
  search.focus();
});

// A filter form without htmx submits itself when one of its choices changes.
document.addEventListener("change", (event) => {
  const form = event.target.closest("form.filters");
  if (form && !form.hasAttribute("hx-get") && event.target.matches("select, [type=checkbox], [type=radio]")) {
    form.requestSubmit();
  }
});

// The bar of a selection says of how many ticked rows each of its acts would touch.
document.addEventListener("change", (event) => {
  const form = event.target.matches("[form][data-can]") && event.target.form;
  if (!form) return;
  const ticked = [...document.querySelectorAll(`[form="${form.id}"]:checked`)];
  for (const button of form.querySelectorAll("button[data-can]")) {
    const fitting = ticked.filter((one) => one.dataset.can.split(" ").includes(button.dataset.can)).length;
    button.disabled = !fitting;
    button.dataset.says ??= button.textContent.trim();
    button.textContent = `${button.dataset.says} ${fitting} of ${ticked.length}`;
  }
});

// Nobody looks at a hidden tab, so nothing is asked for it; a poll comes back with its next tick.
document.addEventListener("htmx:config:request", (event) => {
  if (document.hidden && event.detail.ctx.request.method === "GET") event.preventDefault();
});

// The bar says that answers stopped coming, and goes when one comes.
const offline = (lost) => {
  const bar = document.getElementById("offline");
  if (bar && bar.hidden === lost) bar.hidden = !lost;
};
const isGatewayFault = (event) => event.detail.ctx?.response?.status >= 502;
document.addEventListener("htmx:error", (event) => { if (event.detail.ctx) offline(true); });
document.addEventListener("htmx:after:request", (event) => offline(isGatewayFault(event)));
window.addEventListener("offline", () => offline(true));
window.addEventListener("online", () => offline(false));

// What was typed into a form that was not taken is there again when its page opens, as after a sign-in or a connection
// that was lost: this tab keeps it until another page opens from the form's. Neither passwords nor a writer's pasted
// settings, which may hold keys.
const thisPage = location.href.split("#")[0];
const isSignIn = /^\/(login|prove)\//.test(location.pathname);
const fieldsOf = (form) =>
  [...form.elements].filter((one) => one.name && one.name !== "text" && !/hidden|password|file|submit|button/.test(one.type));
const person = document.querySelector(".nav .me b")?.textContent;
const nameOf = (form) => [form.action, ...fieldsOf(form).map((one) => one.name)].join(" ");
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || form.hasAttribute("hx-post") || isSignIn) return;
  const typed = fieldsOf(form).map((one) => [one.value, one.checked]);
  sessionStorage.setItem("typed", JSON.stringify([thisPage, person, nameOf(form), typed]));
});
document.addEventListener("DOMContentLoaded", () => {
  const [page, typist, name, typed] = JSON.parse(sessionStorage.getItem("typed") ?? "[]");
  const cameBack = performance.getEntriesByType("navigation")[0]?.type === "back_forward";
  if (document.referrer === page && !cameBack && !isSignIn) return sessionStorage.removeItem("typed");
  const form = page === thisPage && typist === person && [...document.forms].find((one) => nameOf(one) === name);
  if (form) fieldsOf(form).forEach((one, at) => {
    if (/checkbox|radio/.test(one.type)) one.checked = typed[at][1];
    else one.value = typed[at][0];
  });
});

// Ctrl K or ⌘ K finds anything, "?" lists the keys: both are dialogs over the page, and links to a page without script.
const isWriting = (event) => event.target.closest("input, textarea, select, [contenteditable]");
const openDialog = (name) => {
  const dialog = document.getElementById(name);
  if (dialog && !document.querySelector("dialog[open]")) {
    dialog.showModal();
    dialog.querySelector("form").dispatchEvent(new Event("asked"));
  }
  return dialog;
};
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.defaultPrevented) return;
  const held = event.ctrlKey || event.metaKey;
  const leaves = isWriting(event) && !event.target.matches("#ask, [type=search], [type=checkbox], [type=radio]");
  if (held && !event.shiftKey && event.key.toLowerCase() === "k" && !leaves && openDialog("find")) event.preventDefault();
  if (!held && event.key === "?" && !isWriting(event) && openDialog("keys")) event.preventDefault();
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-opens]");
  if (link && !event.ctrlKey && !event.metaKey && openDialog(link.dataset.opens)) event.preventDefault();
});

window.addEventListener("hashchange", () => document.querySelector("dialog[open]")?.close());

// The field keeps the focus, and the arrows choose among the hits; Enter without any goes to the page of what was typed.
const field = document.getElementById("ask");
const chosen = () => document.querySelector("#hits [aria-selected=true]");
const choose = (hit) => {
  chosen()?.setAttribute("aria-selected", "false");
  hit?.setAttribute("aria-selected", "true");
  hit?.scrollIntoView({ block: "nearest" });
  if (hit) field.setAttribute("aria-activedescendant", hit.id);
  else field.removeAttribute("aria-activedescendant");
};
field?.addEventListener("input", () => choose(null));
field?.addEventListener("keydown", (event) => {
  const hits = [...document.querySelectorAll("#hits [role=option]")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && hits.length) {
    const next = hits.indexOf(chosen()) + step;
    choose(hits[next < 0 ? hits.length - 1 : next % hits.length]);
  } else if (event.key === "Enter" && chosen()) chosen().click();
  else return;
  event.preventDefault();
});
if (field) new MutationObserver(() => {
  const first = document.querySelector("#hits [role=option]");
  field.setAttribute("aria-expanded", String(Boolean(first)));
  choose(first);
}).observe(document.getElementById("hits"), { childList: true });
document.addEventListener("htmx:after:settle", () => { // which puts the attributes of the answer back
  if (field && !chosen()) choose(document.querySelector("#hits [role=option]"));
});

// A copy button copies what stands before it, and says so.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  const source = button.previousElementSibling;
  let said = "Copied";
  try {
    await navigator.clipboard.writeText(source.textContent.trim());
  } catch { // a page that came over plain HTTP has no clipboard
    getSelection().selectAllChildren(source);
    said = "Selected: press Ctrl C";
  }
  button.dataset.said = said;
  document.getElementById("announce").textContent = said;
  setTimeout(() => delete button.dataset.said, 2000);
});
