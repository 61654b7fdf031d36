import TomboloJSONAPI
import TomboloModel
import TomboloLocalization

extension ChildRows {
    /// - Parameter title: the record's title; nil for a new one.
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
        // Nothing links to a record that doesn't exist yet.
        if let parent, title != nil { values["list"] = link.listPath(to: parent.keyText) }
        if isCut { values["cut"] = ["name": Self.cutField, "maximum": rows.count { !$0.isNew }] }
        return values
    }

    /// The problems of rows, for the list above the form.
    var problems: [[String: Any]] { table.problems(rows) }

    /// A fingerprint that changes with the set of objects in the rows and with every change to one of them.
    var state: String {
        let text = rows.map { "\($0.id) \($0.version)" }.joined(separator: "\n")
        return ResourceVersion(of: Array(text.utf8)[...]).text
    }
}
