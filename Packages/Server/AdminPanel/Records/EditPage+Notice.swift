import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

/// What is said after saving. A trigger of the database may store something else than was entered, without a word.
extension EditPage {
    /// Fields that a notice names.
    private static let namedFieldCount = 5

    /// - Parameters:
    ///   - done: what was done, such as `Saved.`, in the language of the page.
    ///   - written: the resource object that was written.
    ///   - stored: what the database made of it, as the caller sees it; nil if they can't see it any more.
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

    /// What a resource object has for a field: of a link the id, of a list of links the ids; nil if it hasn't the field.
    static func value(of field: ResourceField, _ written: JSON) -> JSON? {
        guard field.isRelationship else { return written["attributes"]?[field.name] }
        guard let data = written["relationships"]?[field.name]?["data"] else { return nil }
        if case .array(let items) = data { return .array(items.map { $0["id"] ?? .null }) }
        return data["id"] ?? .null
    }

    /// The same of what is stored; nil for what is too long to be read.
    func value(of field: ResourceField, _ stored: PanelResource) -> JSON? {
        guard field.isRelationship else { return stored.attribute(field.name) }
        guard let ids = stored.linked(field.name)?.map(JSON.string) else { return nil }
        if case .toOne = field.content { return ids.first ?? .null }
        return .array(ids)
    }
}
