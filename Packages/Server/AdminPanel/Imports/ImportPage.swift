import HTTPTypes
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// The page of an uploaded file that waits to be started: the mapping of its columns, followed by a preview of the
/// import.
struct ImportPage {
    private static let template = PanelTemplate(PackageResources.import_file_mustache)

    let request: PanelRequest
    let view: CallerView
    let type: ResourceType
    let id: Int64

    private var path: String { ImportPages.path(of: type, job: Int(id)) }
    private var job: String { "\(JobPages.path)/\(id)" }
    private var desk: ImportDesk { ImportDesk(request.core.pool) }
    /// Offers all modes to callers without permission; they get the reason when they choose one.
    private var modes: [ImportMapping.Mode] {
        let modes = ImportPages.modes(type, for: view)
        return modes.isEmpty ? ImportMapping.Mode.allCases : modes
    }
    private var mode: ImportMapping.Mode { modes.first ?? .create }

    /// The choices made so far.
    private struct Choices {
        /// The members by column; empty for a column that isn't imported.
        var members: [String: String]
        var mode: ImportMapping.Mode
        var isPlain = false
        /// Member names, separated by commas.
        var match = "id"

        var wishes: [String: JSON] {
            [
                "match": .array(match.split(separator: ",").map { .string(String($0)) }),
                "mapping": .object(members.mapValues { $0.isEmpty ? .null : .string($0) }),
                "mode": .string(mode.rawValue), "formulas": isPlain ? "plain" : "guarded",
            ]
        }
    }

    private func summary() async throws -> ImportSummary {
        try await desk.summary(id, by: request.userID, of: type, for: view)
    }

    private func choices(_ summary: ImportSummary) -> Choices {
        var members: [String: String] = [:]
        for (place, column) in summary.columns.enumerated() { members[column] = request.form["column.\(place)"] ?? "" }
        return Choices(
            members: members, mode: request.form["mode"].flatMap { ImportMapping.Mode(rawValue: $0) } ?? mode,
            isPlain: request.form["formulas"] == "plain", match: request.form["match"] ?? "id")
    }

    // MARK: Answers

    func answer() async throws -> PanelAnswer {
        let summary = try await summary()
        guard summary.isWaiting else { return .redirect(to: job) }
        return .page(render(summary, Choices(members: summary.suggestions, mode: mode)))
    }

    func preview() async throws -> PanelAnswer {
        let summary = try await summary()
        guard summary.isWaiting else { return .redirect(to: job) }
        return .page(try await preview(summary, choices(summary)))
    }

    private func preview(
        _ summary: ImportSummary, _ choices: Choices, after problem: RequestFailure? = nil
    ) async throws -> PanelPage {
        do {
            let draft = try await desk.draft(id, .object(choices.wishes), of: type, for: view)
            return render(summary, choices, try await desk.preview(draft), problem)
        } catch let failure as RequestFailure where failure.code == .badRequest {
            return render(summary, choices, nil, failure)
        }
    }

    func start() async throws -> PanelAnswer {
        let summary = try await summary()
        guard summary.isWaiting else { return .redirect(to: job) }
        try await request.demandPassword(changingClassAt: type.classIndex, under: view.rules)
        let choices = choices(summary)
        var wishes = choices.wishes
        wishes["expect"] = ["version": .string(request.form["version"] ?? "")]
        wishes["atomic"] = .bool(request.form["atomic"] == "on")
        do {
            _ = try await desk.start(id, .object(wishes), of: type, for: view)
        } catch let failure as RequestFailure
            where [.conflict, .badRequest, .unprocessable].contains(failure.code)
        {
            return .page(try await preview(summary, choices, after: failure))
        }
        // The job's page shows the progress, even if the job takes a long time.
        return .redirect(to: job)
    }

    // MARK: The page

    private func render(
        _ summary: ImportSummary, _ choices: Choices, _ preview: JSON? = nil, _ problem: RequestFailure? = nil
    ) -> PanelPage {
        let names = ImportMapping.memberNames(of: type, view)
        var values: [String: Any] = [
            "formToken": request.visit.token.formToken, "action": path, "cancel": "\(job)/cancel",
            "file": summary.file ?? localized("The file"), "rows": Self.rows(Int(summary.rowCount)),
            "isTable": summary.isTable, "isPlain": choices.isPlain,
            "columns": summary.columns.enumerated().map { place, column in
                var shown: [String: Any] = [
                    "place": place, "name": column, "sample": summary.sample(of: column),
                    "members": names.map { name in
                        ["name": name, "isChosen": choices.members[column] == name] as [String: Any]
                    },
                ]
                if choices.members[column, default: ""].isEmpty {
                    shown["remark"] = ImportMapping.titleRemark(column, of: type, view)
                }
                return shown
            },
            "modes": modes.map { mode in
                ["value": mode.rawValue, "title": mode.title, "isChosen": choices.mode == mode] as [String: Any]
            },
            "numbered": summary.numbersLines ? localized("Line") : localized("Row"),
        ]
        if let note = summary.note { values["note"] = note }
        let matches = [["id"]] + summary.matches
        values["matches"] = matches.map { names in
            let value = names.joined(separator: ",")
            return ["value": value, "title": names.joinedByAnd, "isChosen": choices.match == value]
                as [String: Any]
        }
        values["hasMatches"] = matches.count > 1
        if let problem {
            values["problem"] = ["message": problem.message, "hint": problem.shownHint ?? ""]
        }
        if let preview { values["preview"] = shown(preview, choices, summary) }
        let plural = ClassTitle.plural(of: type)
        return PanelPage(
            localized("Import \(plural)"), crumbs: [ImportPages.crumb(type)], content: Self.template.render(values),
            status: problem == nil ? .ok : .unprocessableContent)
    }

    private func shown(_ preview: JSON, _ choices: Choices, _ summary: ImportSummary) -> [String: Any] {
        func count(_ name: String) -> Int { preview[name]?.number ?? 0 }
        var hidden = summary.columns.enumerated().map { place, column in
            ["name": "column.\(place)", "value": choices.members[column] ?? ""]
        }
        hidden += [
            ["name": "mode", "value": choices.mode.rawValue],
            ["name": "formulas", "value": choices.isPlain ? "plain" : "guarded"],
            ["name": "match", "value": choices.match],
            ["name": "version", "value": preview["version"]?.text ?? ""],
        ]
        let problems = (preview["problems"]?.items ?? []).map { problem -> [String: Any] in
            [
                "row": problem["row"]?.number.map { "\($0)" } ?? localized("All new ones"),
                "column": problem["column"]?.text ?? "",
                "message": [problem["message"]?.text, problem["remedy"]?.text].compactMap(\.self)
                    .joined(separator: " "),
            ]
        }
        let (creates, updates, left, refused) = (
            count("creates"), count("updates"), count("leftAlone"), count("refused")
        )
        let tried = count("tried")
        return [
            "counts": Self.counts(creates: creates, updates: updates - left, unchanged: left, refused: refused),
            "hasRefused": refused > 0, "problems": problems,
            "isLonger": problems.count >= ImportLimits.shownProblemCount, "canStart": creates + updates > 0,
            "tried": tried < count("total") ? Self.triedText(tried) : "",
            "rows": (preview["rows"]?.items ?? []).map(Self.row), "hidden": hidden,
            "ignored": (preview["ignored"]?.items ?? []).map { column in
                ["name": column["column"]?.text ?? "", "reason": column["reason"]?.text ?? ""]
            },
            "hasIgnored": preview["ignored"]?.items.isEmpty == false,
        ]
    }

    private static func triedText(_ count: Int) -> String {
        let number = PanelNumber.text(count)
        return localized(
            "All rows were read, and the first \(number) were tried against the data. Others may still turn out to be "
                + "unchanged or have errors.")
    }

    /// `2 rows to create, 1 row with errors`
    private static func counts(creates: Int, updates: Int, unchanged: Int, refused: Int) -> String {
        var texts: [String] = []
        if creates > 0 {
            let number = PanelNumber.text(creates)
            texts.append(localized(creates, one: "\(number) row to create", other: "\(number) rows to create"))
        }
        if updates > 0 {
            let number = PanelNumber.text(updates)
            texts.append(localized(updates, one: "\(number) row to update", other: "\(number) rows to update"))
        }
        if unchanged > 0 {
            let number = PanelNumber.text(unchanged)
            texts.append(localized(unchanged, one: "\(number) row unchanged", other: "\(number) rows unchanged"))
        }
        if refused > 0 {
            let number = PanelNumber.text(refused)
            texts.append(localized(refused, one: "\(number) row with errors", other: "\(number) rows with errors"))
        }
        return texts.joined(separator: ", ")
    }

    /// One of the first rows, as it would be stored.
    private static func row(_ row: JSON) -> [String: Any] {
        let action =
            switch row["action"]?.text {
            case "create": localized("Create")
            case "update": localized("Update")
            case "leave": localized("Unchanged")
            default: localized("Error")
            }
        var texts: [String] = []
        for part in ["attributes", "relationships"] {
            for member in row["after"]?[part]?.members ?? [] where row["before"]?[part]?[member.name] != member.value {
                let value = part == "attributes" ? member.value : linked(member.value)
                guard value != .null else { continue }
                texts.append("\(ClassTitle.words(member.name)): \(CellText.plain(value))")
            }
        }
        // Its problems are listed only once, in the list of errors.
        return [
            "row": "\(row["row"]?.number ?? 0)", "action": action, "isRefused": row["action"]?.text == "refuse",
            "text": texts.joined(separator: "; "),
        ]
    }

    private static func rows(_ count: Int) -> String {
        let number = PanelNumber.text(count)
        return localized(count, one: "\(number) row", other: "\(number) rows")
    }

    private static func linked(_ json: JSON) -> JSON {
        guard case .array(let items)? = json["data"] else { return json["data"]?["id"] ?? .null }
        return .array(items.map { $0["id"] ?? .null })
    }
}
