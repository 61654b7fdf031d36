import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

/// The notice after saving. It mentions values that a trigger of the database silently changed.
extension EditPage {
    /// The maximum number of fields that a notice names.
    private static let namedFieldCount = 5

    /// - Parameters:
    ///   - done: what was done, such as `Saved.`, in the language of the page.
    ///   - written: the resource object that was written.
    ///   - stored: the stored result, as the caller sees it; nil if they can no longer see it.
    func notice(_ done: String, _ written: JSON, _ stored: PanelResource?) async throws -> PanelNotice {
        guard let stored else { return PanelNotice(done) }
        var texts: [String] = []
        for field in view.fields(of: type) {
            guard let sent = Self.value(of: field, written), let now = value(of: field, stored),
                !field.isSame(sent, now)
            else { continue }
            let title = ClassTitle.words(field.name)
            if let control = FormField(field) {
                let text = try await text(now, control).shortened(toByteCount: 80)
                texts.append(localized("'\(title)' is \(text)"))
            } else {
                texts.append(localized("'\(title)' isn't what you entered"))
            }
        }
        guard !texts.isEmpty else { return PanelNotice(done) }
        let more = texts.count - Self.namedFieldCount
        let list = (texts.prefix(Self.namedFieldCount) + (more > 0 ? [localized("and \(more) more")] : []))
            .joined(separator: ", ")
        let sentence = localized(
            texts.count, one: "\(list): the database sets it itself.", other: "\(list): the database sets them itself.")
        return PanelNotice("\(done) \(sentence)")
    }

    /// A field's value in a resource object: for a link the id, for a list of links the ids; nil if the field is
    /// missing.
    static func value(of field: ResourceField, _ written: JSON) -> JSON? {
        guard field.isRelationship else { return written["attributes"]?[field.name] }
        guard let data = written["relationships"]?[field.name]?["data"] else { return nil }
        if case .array(let items) = data { return .array(items.map { $0["id"] ?? .null }) }
        return data["id"] ?? .null
    }

    /// A field's value in a stored resource; nil if it's too long to be read.
    func value(of field: ResourceField, _ stored: PanelResource) -> JSON? {
        guard field.isRelationship else { return stored.attribute(field.name) }
        guard let ids = stored.linked(field.name)?.map(JSON.string) else { return nil }
        if case .toOne = field.content { return ids.first ?? .null }
        return .array(ids)
    }
}
