// Appended to the search worker of the generator, which finds only sections with all words of the input. Readers ask whole questions, so
// this also looks for sections with most of the words. Words without a meaning of their own do not count. The best section of each page
// comes before further sections, because the first screen shows few results. Readers also paste the message of a finding, with the names of
// their own resources in it. The page of its code comes first.
{
  const SHOWN = 20; // sections at most
  const TRIED = 40; // queries at most for one input
  const EMPTY = new Set(
    ("a about after all am an and any are as at be been but by can cannot could did do does doing don dont every for from get gets had has " +
      "have he how i if im in into is isn isnt it its just make makes me my no of off on or our out please s should so some still t than that " +
      "the their them then there these they this to up us using was way we were what when where which who why will with without would you your").split(" "),
  );
  const ERRORS = /(^|\/)errors\/(DYN\d{3})\.html$/; // the first section of such a page has an example of the message
  const LAST = /(^|\/)(changelog|contributing|upstream)\.html/; // pages about the project itself come after all others

  const engine = self.onmessage;
  const post = self.postMessage.bind(self);
  let answers = [];
  let locations = []; // of sections, by their ids
  let titles = [];
  let messages = []; // {id, code, rows} of the pages of codes
  let weights = new Map(); // of rows of words: a row of few messages weighs more
  self.postMessage = (message) => (message.type === 3 ? answers.push(message) : post(message));

  /** The answer of the engine to one query. The engine writes into its query, so it gets a copy. */
  const ask = (event, input = event.data.data.input) => {
    answers = [];
    engine({ data: { type: event.data.type, data: { ...structuredClone(event.data.data), input } } });
    return answers[0];
  };

  /** The words of a question that have a meaning of their own, without endings, so that `restarted` also finds `restarts`. */
  const words = (input) =>
    [...new Set(input.toLowerCase().split(/[^\p{L}\p{N}._/-]+/u))]
      .map((word) => word.replace(/^[._/-]+|[._/-]+$/g, ""))
      .filter((word) => word && !EMPTY.has(word))
      .map((word) => (word.length > 5 ? word.replace(/(ing|ed|es|s)$/, "") : word))
      .slice(0, 8);

  /** All choices of `size` words, in the order of the words. */
  const choices = (list, size) => {
    if (size === 0) return [[]];
    return list.flatMap((word, index) => choices(list.slice(index + 1), size - 1).map((rest) => [word, ...rest]));
  };

  /** Sections by their scores: one counts more if queries find it often, early, in its title, and by words that few sections have. */
  const ranked = (event, list) => {
    const scores = new Map();
    let asked = 0;
    for (let size = list.length; size > 0 && scores.size < SHOWN && asked < TRIED; size--) {
      for (const chosen of choices(list, size).slice(0, TRIED - asked)) {
        asked++;
        const { items, pagination } = ask(event, chosen.join(" ")).data;
        items.forEach((item, rank) => {
          const known = scores.get(item.id) ?? { item, score: 0 };
          const inTitle = item.matches.some((match) => match.field === "title") ? 2 : 1;
          known.score += (inTitle * size ** 3) / ((rank + 2) * Math.log(pagination.total + 2));
          scores.set(item.id, known);
        });
      }
    }
    return [...scores.values()].sort((one, other) => other.score - one.score).map(({ item }) => item);
  };

  /** All rows of three words in a text. Numbers and punctuation do not count. */
  const rows = (text) => {
    const list = text.toLowerCase().match(/\p{L}+/gu) ?? [];
    return new Set(list.slice(2).map((_, index) => list.slice(index, index + 3).join(" ")));
  };

  /** Reads the examples of messages from the pages of codes. */
  const readMessages = (sections) => {
    messages = sections.flatMap(({ location, text }, id) => {
      const code = ERRORS.exec(location)?.[2];
      const example = /<code>(.*?)<\/code>/s.exec(text)?.[1] ?? "";
      return code ? [{ id, code, rows: rows(example.replace(/&\w+;/g, " ")) }] : [];
    });
    const counts = new Map();
    messages.forEach((message) => message.rows.forEach((row) => counts.set(row, (counts.get(row) ?? 0) + 1)));
    weights = new Map([...counts].map(([row, count]) => [row, Math.log(messages.length / count)]));
  };

  /** The messages that are like an input, the most similar first. */
  const alike = (input) => {
    const asked = [...rows(input)];
    const weight = (message) => asked.filter((row) => message.rows.has(row)).reduce((sum, row) => sum + weights.get(row), 0);
    const enough = Math.log(messages.length / 2); // the weight of a row that two messages have
    const scores = messages.map((message) => ({ message, score: weight(message) })).filter(({ score }) => score >= enough);
    return scores.sort((one, other) => other.score - one.score).map(({ message }) => message);
  };

  /** The pages of at most three codes: those in the input, else those whose messages are like the input. */
  const pagesOfCodes = (event, input) => {
    const codes = new Set(input.match(/DYN\d{3}/g));
    const found = codes.size ? messages.filter(({ code }) => codes.has(code)) : alike(input);
    // The engine finds a code in the title of its page.
    return found.slice(0, 3).flatMap(({ id, code }) => ask(event, code).data.items.filter((item) => item.id === id));
  };

  /** The best section of each page first. Pages about the project itself come last. */
  const ordered = (items) => {
    const seen = new Set();
    const rank = (item) => {
      const page = (locations[item.id] ?? "").split("#")[0];
      const again = seen.has(page);
      seen.add(page);
      return LAST.test(page) ? 2 : again ? 1 : 0;
    };
    const ranks = items.map((item) => ({ item, rank: rank(item) }));
    return ranks.sort((one, other) => one.rank - other.rank).map(({ item }) => item);
  };

  self.onmessage = (event) => {
    if (event.data.type === 0) {
      locations = event.data.data.items.map((item) => item.location);
      titles = event.data.data.items.map((item) => item.title.toLowerCase());
      readMessages(event.data.data.items);
    }
    if (event.data.type !== 2) return engine(event);
    const answer = ask(event);
    if (!answer) return undefined;
    const { input, page } = event.data.data;
    const list = typeof input === "string" && !page ? words(input) : [];
    if (list.length > 1) {
      const exact = answer.data.items.filter((item) => titles[item.id].includes(input.trim().toLowerCase()));
      const found = [...exact, ...pagesOfCodes(event, input), ...ranked(event, list)];
      const items = ordered([...new Map(found.map((item) => [item.id, item])).values()]).slice(0, SHOWN); // each section once
      return post({ ...answer, data: { ...answer.data, items, pagination: { total: items.length } } });
    }
    return post({ ...answer, data: { ...answer.data, items: ordered(answer.data.items) } });
  };
}
