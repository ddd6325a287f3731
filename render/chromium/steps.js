// The functions of the steps of a rendering. They run in a world of their own, in which nothing is what the page made of
// it: the page shares only its document. A form can hide a method of its own behind a field of this name, so methods are
// taken from their prototypes.
globalThis.steps ??= (() => {
	const {querySelectorAll, querySelector} = Document.prototype;
	const inTree = DocumentFragment.prototype.querySelectorAll;
	const maxElements = 50000, maxRoots = 200, maxEntries = 2000, minText = 20, maxText = 1000;
	const clicked = new WeakSet(), grown = new Map(), added = new WeakSet();
	let list = null, watching = false;

	// roots returns the document and its open shadow trees.
	const roots = () => {
		const all = [document];
		for (let i = 0; i < all.length && all.length < maxRoots; i++) {
			let n = 0;
			for (const e of (i ? inTree : querySelectorAll).call(all[i], "*")) {
				if (e instanceof Element && e.shadowRoot instanceof ShadowRoot) all.push(e.shadowRoot);
				if (++n > maxElements) break;
			}
		}
		return all;
	};
	const matches = (selector, of) => of.flatMap((root, i) => [...(i ? inTree : querySelectorAll).call(root, selector)]);

	// isOffered reports whether a reader could click an element.
	const isOffered = e => {
		const box = Element.prototype.getBoundingClientRect.call(e);
		const get = name => Element.prototype.getAttribute.call(e, name);
		return e instanceof HTMLElement && box.width > 1 && box.height > 1 && get("disabled") === null &&
			get("aria-disabled") !== "true" && Element.prototype.checkVisibility.call(e, {visibilityProperty: true});
	};
	const wordsOf = e => {
		const text = e instanceof HTMLInputElement ? e.value : e.textContent || Element.prototype.getAttribute.call(e, "aria-label");
		return String(text).slice(0, 200).trim().replace(/\s+/g, " ").toLowerCase();
	};
	const says = (e, texts) => {
		const words = wordsOf(e);
		return words.length <= 60 && texts.some(t => words.startsWith(t) && !/^\p{L}/u.test(words.slice(t.length)));
	};

	// find returns the element to click: of the first selector that matches something, the first one that was not clicked
	// yet, or else the first one.
	const find = (selectors, texts) => {
		const of = roots();
		const among = all => { all = all.filter(isOffered); return all.find(e => !clicked.has(e)) || all[0] };
		for (const s of selectors) {
			const e = among(matches(s, of));
			if (e) return e;
		}
		const buttons = "button, a, summary, [role=button], input[type=button], input[type=submit]";
		return texts.length ? among(matches(buttons, of).filter(e => says(e, texts))) : undefined;
	};

	// leads returns where a click on the elements of a path leads, if that is another document.
	const leads = path => {
		for (const e of path) {
			const href = e instanceof Element && (e.localName === "a" || e.localName === "area") &&
				(Element.prototype.getAttribute.call(e, "href") ?? Element.prototype.getAttribute.call(e, "xlink:href"));
			if (typeof href !== "string") continue;
			let to;
			try { to = new URL(href, document.baseURI) } catch { return "" }
			const here = to.hash && to.href.split("#")[0] === location.href.split("#")[0];
			return to.protocol === "javascript:" || here || href === "#" ? "" : to.href;
		}
		return "";
	};

	// press clicks an element as a script does. What a browser would then do by itself is prevented: following a link and
	// submitting a form.
	const press = e => {
		const said = {clicked: true, link: "", form: false};
		const keep = event => {
			const to = leads(event.composedPath());
			if (!to) return;
			if (!event.defaultPrevented) said.link = to.slice(0, 300);
			event.preventDefault();
		};
		const hold = event => {
			if (!event.defaultPrevented) said.form = true;
			event.preventDefault();
		};
		const elsewhere = event => {
			const target = event.target instanceof HTMLFormElement && Element.prototype.getAttribute.call(event.target, "target");
			if (window !== window.top || target && !/^_(self|top)$/i.test(target)) hold(event);
		};
		window.addEventListener("click", keep);
		window.addEventListener("submit", hold);
		window.addEventListener("submit", elsewhere, true);
		try {
			clicked.add(e);
			Element.prototype.scrollIntoView.call(e, {block: "center", behavior: "instant"});
			const how = {bubbles: true, cancelable: true, composed: true, view: window};
			for (const type of ["pointerdown", "mousedown", "pointerup", "mouseup"]) {
				const kind = type.startsWith("pointer") ? PointerEvent : MouseEvent;
				EventTarget.prototype.dispatchEvent.call(e, new kind(type, how));
			}
			HTMLElement.prototype.click.call(e);
		} finally {
			window.removeEventListener("click", keep);
			window.removeEventListener("submit", hold);
			window.removeEventListener("submit", elsewhere, true);
		}
		return said;
	};

	// watch notes where elements are added from now on.
	const watch = () => {
		if (watching) return;
		watching = true;
		new MutationObserver(records => {
			for (const r of records.slice(0, 1000)) {
				let n = 0;
				for (const e of r.addedNodes) {
					if (!(e instanceof HTMLElement)) continue;
					added.add(e);
					n++;
				}
				if (n && (grown.has(r.target) || grown.size < 1000)) grown.set(r.target, (grown.get(r.target) || 0) + n);
			}
		}).observe(document, {childList: true, subtree: true});
	};

	// textOf returns the text of an element without what changes by itself: times.
	const textOf = e => {
		const walk = document.createTreeWalker(e, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, n =>
			n instanceof Element && /^(time|script|style|template)$/.test(n.localName) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
		let text = "";
		while (text.length < maxText && walk.nextNode()) {
			if (walk.currentNode.nodeType === Node.TEXT_NODE) text += walk.currentNode.nodeValue + " ";
		}
		return text.replace(/\s+/g, " ").trim().slice(0, maxText);
	};
	const childrenOf = e => [...e.childNodes].filter(n => n instanceof HTMLElement);

	// entriesOf returns the texts of the entries of a list, in their order. A part of the list with entries of its own, such
	// as a page of it, is no entry. Texts that repeat or are short identify none.
	const entriesOf = e => {
		const texts = new Map();
		const add = e => {
			const text = textOf(e);
			if (text.length >= minText) texts.set(text, (texts.get(text) || 0) + 1);
		};
		for (const child of childrenOf(e).slice(0, maxEntries)) {
			const inner = childrenOf(child);
			const kind = n => n.localName + "." + Element.prototype.getAttribute.call(n, "class");
			const isPart = inner.length >= 3 && /^(article|section|div|li)\../.test(kind(inner[0])) &&
				Element.prototype.getAttribute.call(inner[0], "class") && inner.every(n => kind(n) === kind(inner[0]));
			if (isPart) inner.slice(0, maxEntries).forEach(add);
			else add(child);
		}
		return [...texts].filter(([, n]) => n === 1).map(([text]) => text).slice(0, maxEntries);
	};

	// pathOf returns a selector of an element: from the nearest id downwards. It may match another one first.
	const pathOf = e => {
		let path = "";
		for (let n = e; n instanceof HTMLElement && path.length < 500; n = n.parentNode) {
			const id = Element.prototype.getAttribute.call(n, "id");
			if (id) return "#" + CSS.escape(id) + path;
			path = " > " + CSS.escape(n.localName) + path;
		}
		return path.replace(/^ > /, "");
	};

	// entries returns the list that has grown most since watch was called, and its entries. What was added as a whole is a
	// part of the list. known is a selector of the list, for a page that has not grown yet.
	const entries = known => {
		let most = 0;
		for (const [e, n] of grown) {
			if (e instanceof HTMLElement && e.isConnected && n > most) [list, most] = [e, n];
		}
		while (list && added.has(list) && list.parentNode instanceof HTMLElement) list = list.parentNode;
		if (!list && known) list = querySelector.call(document, known);
		return list instanceof HTMLElement ? {list: pathOf(list), texts: entriesOf(list)} : {list: "", texts: []};
	};

	// loading returns how many pictures in the window are not complete.
	const loading = () => {
		let n = 0;
		for (const e of [...querySelectorAll.call(document, "img")].slice(0, 5000)) {
			const box = e.getBoundingClientRect();
			if (!e.complete && box.bottom > 0 && box.top < innerHeight && box.width > 0) n++;
		}
		return n;
	};

	return {
		click: (selectors, texts) => {
			const e = find(selectors, texts);
			return e ? press(e) : {clicked: false, link: "", form: false};
		},
		has: selector => matches(selector, roots()).some(e => e instanceof Element && Element.prototype.checkVisibility.call(e)),
		holds: values => Object.entries(values).every(([k, v]) => Storage.prototype.getItem.call(localStorage, k) === v),
		watch, entries, loading,
	};
})();
