import TomboloJSONAPI
import TomboloModel
import TomboloLocalization

extension ChildRows {
    /// - Parameter title: of the record; nil for a new one.
    func values(title: String?) async throws -> [String: Any] {
        let plural = ClassTitle.plural(of: type)
        let caption = title.map { localized("\(plural) of \($0)") } ?? localized("New \(plural)", context: "several")
        var values: [String: Any] = [
            "plural": plural, "hasRows": !rows.isEmpty,
            "tableHTML": try await table.html(rows, caption: caption),
            "hasNew": rows.contains(where: \.isNew), "pluralInSentence": ClassTitle.inSentence(plural),
        ]
        if let missing = table.missing, !missing.isEmpty {
            values["lacking"] = missing.map { ClassTitle.inSentence(ClassTitle.words($0.name)) }.joined(separator: ", ")
        }
        // While a record is being made, nothing links to it.
        if let parent, title != nil { values["list"] = link.listPath(to: parent.keyText) }
        if isCut { values["cut"] = ["name": Self.cutField, "maximum": rows.count { !$0.isNew }] }
        return values
    }

    /// What is wrong with rows, for the list above the form.
    var problems: [[String: Any]] { table.problems(rows) }

    /// Changes with every object of the rows, and every change of one.
    var state: String {
        let text = rows.map { "\($0.id) \($0.version)" }.joined(separator: "\n")
        return ResourceVersion(of: Array(text.utf8)[...]).text
    }
}
