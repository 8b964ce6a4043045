// A live page: takes what the server sends each second into the text and the charts that are there.
(function () {
  "use strict";
  var holder = document.getElementById("drives"), note = document.getElementById("note"), source = null;

  function fill(list, items) {
    list.textContent = "";
    items.forEach(function (item) { list.appendChild(item); });
  }

  function element(tag, text) {
    var made = document.createElement(tag);
    made.textContent = text;
    return made;
  }

  function pair(entry) {
    var made = document.createElement("div");
    made.appendChild(element("dt", entry[0]));
    made.appendChild(element("dd", entry[1]));
    return made;
  }

  function show(event) {
    var sections = holder.querySelectorAll("section.drive");
    // More or fewer drives than the page has places for, or the first of them.
    if (event.drives.length !== sections.length && event.drives.length) return location.reload();
    note.textContent = event.note || "";
    event.drives.forEach(function (drive, index) {
      fill(sections[index].querySelector(".now"), drive.now.map(pair));
      fill(sections[index].querySelector(".sentences"), drive.sentences.map(function (text) { return element("li", text); }));
    });
    window.heatsoakUpdate(event.charts);
    holder.dataset.seen = String(Number(holder.dataset.seen || 0) + 1);
    if (event.state !== "under_way") {
      close();
      document.querySelector(".subtitle").textContent = event.state === "done" ? "Ended" : "Nobody writes to this run any more";
    }
  }

  function close() {
    if (source) source.close();
    source = null;
  }

  function open() {
    if (source || document.hidden) return;
    source = new EventSource(holder.dataset.events);
    source.addEventListener("view", function (message) { show(JSON.parse(message.data)); });
    source.addEventListener("open", function () { note.textContent = ""; });
    source.addEventListener("error", function () { note.textContent = "No connection to the server; trying again."; });
  }

  // A page that nobody sees costs nothing.
  document.addEventListener("visibilitychange", function () { if (document.hidden) close(); else open(); });
  open();
})();
