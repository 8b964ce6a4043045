// Comparing by ticking: how many are ticked, and a button that waits for two. Without it the form does the same.
(function () {
  "use strict";
  var form = document.getElementById("compare");
  if (!form) return;
  var go = document.getElementById("go"), told = document.getElementById("ticked");
  function count() {
    var ticked = form.querySelectorAll("input[name=run]:checked").length;
    go.disabled = ticked < 2 || ticked > 26;
    told.textContent = ticked === 0 ? "" : ticked === 1 ? "1 ticked, one more to compare" : ticked > 26 ? ticked + " ticked, 26 at most" : ticked + " ticked";
  }
  form.addEventListener("change", count);
  window.addEventListener("pageshow", count);
  count();
})();
