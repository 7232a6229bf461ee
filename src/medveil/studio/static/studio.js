// Improves pages that work without it: files that are dropped, keys, and runs that end while one watches.
"use strict";

const ready = (start) =>
  document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", start) : start();

// Files that are dropped or chosen are sent at once, and one sees how far it is.
function uploads() {
  const form = document.querySelector("form[data-upload]");
  if (!form) return;
  const input = form.querySelector("input[type=file]");
  const bar = form.querySelector("progress");
  const words = form.querySelector("[data-words]");
  form.classList.add("live");

  function send(files) {
    const body = new FormData();
    for (const file of files) body.append("file", file, file.name);
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "text/html");
    bar.hidden = false;
    words.textContent = form.dataset.uploading;
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) bar.value = event.loaded / event.total;
    });
    request.addEventListener("load", () => {
      if (request.status < 400) {
        window.location.assign(request.responseURL);
      } else {
        const answer = new DOMParser().parseFromString(request.responseText, "text/html");
        const told = answer.querySelector("main [data-fault]");
        words.textContent = told ? told.textContent.trim() : String(request.status);
        bar.hidden = true;
        input.value = "";
      }
    });
    request.addEventListener("error", () => {
      // A studio that refuses a file that is too large hangs up before it has it all.
      words.textContent = form.dataset.broken;
      bar.hidden = true;
    });
    request.send(body);
  }

  input.addEventListener("change", () => input.files.length && send(input.files));
  for (const name of ["dragenter", "dragover"])
    form.addEventListener(name, (event) => {
      event.preventDefault();
      form.classList.add("over");
    });
  for (const name of ["dragleave", "drop"]) form.addEventListener(name, () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) send(event.dataTransfer.files);
  });
}

// ? help, g and a letter for a step, Ctrl and Enter for the main button, Escape closes.
function keys() {
  let going = false;
  document.addEventListener("keydown", (event) => {
    const writing = event.target.closest("input, textarea, select");
    if (event.key === "Escape") {
      const open = document.activeElement.closest("details[open]") || document.querySelector("details.pop[open]");
      if (open) {
        open.open = false;
        open.querySelector("summary").focus();
      }
      return;
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      const main = document.querySelector("form[data-main]");
      if (main) {
        event.preventDefault();
        main.requestSubmit();
      }
      return;
    }
    if (writing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (going) {
      going = false;
      const target = document.querySelector(`a[data-key="${CSS.escape(event.key)}"]`);
      if (target) {
        event.preventDefault();
        target.click();
      }
    } else if (event.key === "g") {
      going = true;
      setTimeout(() => (going = false), 1500);
    } else if (event.key === "?") {
      const target = document.querySelector('a[data-key="?"]');
      if (target) target.click();
    }
  });
}

ready(() => {
  uploads();
  keys();
  const fault = document.querySelector(".faults, [aria-invalid=true]");
  if (fault) fault.focus();
  else if (window.location.hash === "#notice") document.getElementById("notice")?.focus();
  // A run that ended shows its result.
  document.body.addEventListener("htmx:sseMessage", (event) => {
    if (event.detail.type === "end") window.location.reload();
  });
});
