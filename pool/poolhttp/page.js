"use strict";
(() => {
	const main = () => document.querySelector("main");
	const focusable = () => [...main().querySelectorAll("a, summary")];

	// show replaces the content. Opened, scrolled and focused elements stay so.
	const show = (next) => {
		const focused = focusable().indexOf(document.activeElement);
		const scrolled = new Map();
		for (const old of main().querySelectorAll("nav, details[open], pre")) {
			const same = next.querySelector("#" + CSS.escape(old.id));
			if (!same) continue;
			if (old.open) same.open = true;
			scrolled.set(same, [old.scrollLeft, old.scrollTop]);
		}
		main().replaceWith(next);
		for (const [element, [left, top]] of scrolled) element.scrollTo(left, top);
		focusable()[focused]?.focus({ preventScroll: true });
	};

	const look = async () => {
		// A hidden page needs no update, and an update would clear a selection.
		if (!document.hidden && getSelection().type !== "Range") {
			try {
				const answer = await fetch(location.href, { cache: "no-store" });
				if (!answer.ok) throw new Error(answer.statusText);
				show(new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main"));
				document.body.className = "";
			} catch {
				document.body.className = "lost";
			}
		}
		again();
	};
	const again = () => setTimeout(look, Number(main().dataset.every));
	again();
})();
