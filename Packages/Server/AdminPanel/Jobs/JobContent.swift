import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

/// The values for the template `job`.
struct JobContent {
    struct Progress {
        let done: Int
        let total: Int
        let text: String
    }

    /// The number of rows with one outcome.
    struct Count {
        let title: String
        let count: String
        let link: String
        let isChosen: Bool
    }

    struct Row {
        let number: String
        /// For an import, the row's place in the file.
        let place: String?
        let title: String
        let path: String?
        let outcome: String
        let isRefused: Bool
        let reason: String?
        let changes: [String]
    }

    struct Time {
        let name: String
        let machine: String
        let exact: String
    }

    struct Other {
        let text: String
        let path: String
    }

    let path: String
    let isImport: Bool
    /// The name of the imported file.
    let file: String?
    let state: String
    let kind: String
    let message: String?
    let isOpen: Bool
    let canCancel: Bool
    let cancelLabel: String
    let canUndo: Bool
    /// What happens if the server that runs the job is killed.
    let whenInterrupted: String
    let progress: Progress
    let sets: [String]
    let filters: [String]
    let times: [Time]
    let others: [Other]
    let counts: [Count]
    let rows: [Row]
    let chosen: String?
    let all: String?
    let next: String?

    /// - Parameters:
    ///   - rows: the rows in the form in which `OwnJobs` returns them.
    ///   - titles: the titles of the objects by id, as far as the viewer can see them.
    ///   - type: the class, if the viewer can see it.
    init(_ job: JSON, _ rows: JSON, outcome: String?, titles: ChoiceTitles, type: ResourceType?) {
        func number(_ name: String) -> Int { job[name]?.number ?? 0 }
        let path = JobPages.path(of: job)
        self.path = path
        isImport = job["kind"]?.text == "import"
        file = isImport ? job["arguments"]?["file"]?.text : nil
        state = JobWords.state(job)
        isOpen = JobWords.isOpen(job)
        kind = job["state"]?.text == "done" ? "yes" : job["state"]?.text == "failed" ? "own" : ""
        message = job["message"]?.text
        whenInterrupted =
            job["atomicity"]?.text == "all or nothing"
            ? localized("It starts over: all or nothing.")
            : localized("It continues with the remaining rows, and doesn't process any row twice.")
        canCancel = isOpen || job["state"]?.text == "draft"
        cancelLabel = isOpen ? localized("Stop the job") : localized("Discard")
        canUndo = job["canUndo"] == .bool(true)
        let total = number("total")
        let done = total - number("pending")
        let (doneText, totalText) = (PanelNumber.text(done), PanelNumber.text(total))
        progress = Progress(done: done, total: max(total, 1), text: localized("\(doneText) of \(totalText)"))
        (sets, filters) = JobWords.arguments(job)
        let moments = [
            (localized("Requested"), "createdAt"), (localized("Started"), "startedAt"),
            (localized("Finished"), "finishedAt"),
        ]
        times = moments.compactMap { name, key in
            guard let text = job[key]?.text else { return nil }
            return Time(name: name, machine: text, exact: "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)) UTC")
        }
        var others: [Other] = []
        if let other = job["undoes"]?.number {
            others.append(Other(text: localized("Undoes job \(other)"), path: "\(JobPages.path)/\(other)"))
        }
        if let other = job["undoneBy"]?.number {
            others.append(Other(text: localized("Undone by job \(other)"), path: "\(JobPages.path)/\(other)"))
        }
        if job["state"]?.text == "draft", let type {
            others.append(
                Other(
                    text: localized("Choose its columns and start it"),
                    path: ImportPages.path(of: type, job: number("id"))))
        }
        self.others = others
        counts = JobWords.outcomes.map { name, title in
            Count(
                title: title, count: PanelNumber.text(number(name)), link: "\(path)?outcome=\(name)",
                isChosen: outcome == name)
        }
        chosen = JobWords.outcomes.first { $0.name == outcome }?.title
        all = outcome == nil ? nil : path
        self.rows = rows["rows"]?.items.map { Self.row($0, of: job, titles, type) } ?? []
        next = rows["next"]?.number.map { "\(path)?\(outcome.map { "outcome=\($0)&" } ?? "")after=\($0)" }
    }

    private static func row(
        _ row: JSON, of job: JSON, _ titles: ChoiceTitles, _ type: ResourceType?
    ) -> Row {
        let number = row["number"]?.number ?? 0
        let place = JobWords.place(ofRow: number, in: job)
        let id = row["id"]?.text
        let outcome = row["outcome"]?.text ?? ""
        let title = id.flatMap { titles[$0] }
        return Row(
            // An import's row may have the id of an object that was never created.
            number: PanelNumber.text(number), place: place,
            title: title ?? (place == nil ? id ?? localized("new object") : ""),
            path: title == nil ? nil : type.flatMap { type in id.map { ClassPages.path(of: type, id: $0) } },
            outcome: JobWords.outcomes.first { $0.name == outcome }?.title ?? outcome,
            isRefused: outcome == "refused", reason: row["reason"]?.text,
            changes: changes(row))
    }

    /// What the row changed: `Price: 100 → 7`.
    private static func changes(_ row: JSON) -> [String] {
        guard let before = row["before"], let after = row["after"] else { return [] }
        var changes: [String] = []
        for group in ["attributes", "relationships"] {
            let text = group == "attributes" ? attribute : JobWords.linked
            for member in after[group]?.members ?? [] {
                let old = before[group]?[member.name] ?? .null
                guard old != member.value else { continue }
                changes.append("\(ClassTitle.words(member.name)): \(text(old)) → \(text(member.value))")
            }
        }
        return changes
    }

    private static func attribute(_ value: JSON) -> String {
        CellText.plain(value).shortened(toByteCount: CellText.listByteCount)
    }
}
