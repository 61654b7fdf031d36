import Foundation
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloLocalization

/// Values as a page shows them.
enum CellText {
    /// The maximum size of a text in a list, in bytes; the record's page shows all of it.
    static let listByteCount = 160

    /// A value for a template: `text`, and `isEmpty`, `isNumber`, `time`, or `link`.
    /// - Parameter limit: the maximum size of the text, in bytes; nil for no limit.
    static func value(_ json: JSON?, _ field: ResourceField, limit: Int? = listByteCount) -> [String: Any] {
        guard let json else { return ["text": localized("Too long to show"), "isEmpty": true] }
        if json == .null { return empty }
        switch field.content {
        case .value(_, let type): return value(json, type, limit: limit)
        case .array, .values:
            guard case .array(let items) = json else { return text(compact(json), limit) }
            if items.isEmpty { return empty }
            return text(items.map { plain($0) }.joined(separator: ", "), limit)
        case .embedded(_, let fields):
            return text(object(json, fields), limit)
        case .objects(_, let fields):
            guard case .array(let items) = json else { return text(compact(json), limit) }
            if items.isEmpty { return empty }
            if limit != nil { return ["text": PanelNumber.text(items.count), "isNumber": true] }
            return ["text": "", "hasLines": true, "lines": items.map { object($0, fields) }]
        case .toOne, .toMany: return text(compact(json), limit)
        }
    }

    /// An embedded object in one line: `Label: fore; Volume: 1.5`.
    static func object(_ json: JSON, _ fields: [ResourceField]) -> String {
        fields.compactMap { inner -> String? in
            guard let value = json[inner.name], value != .null, value != [] else { return nil }
            let text: String
            switch (inner.content, value) {
            case (.embedded(_, let fields), _): text = "(\(object(value, fields)))"
            case (.objects(_, let fields), .array(let items)):
                text = items.map { "(\(object($0, fields)))" }.joined(separator: ", ")
            case (.value(_, .data), _), (.value(_, .date), _):
                text = self.value(value, inner, limit: nil)["text"] as? String ?? ""
            case (_, .array(let items)): text = items.map { plain($0) }.joined(separator: ", ")
            default: text = plain(value)
            }
            return "\(ClassTitle.words(inner.name)): \(text)"
        }.joined(separator: "; ")
    }

    /// The number of bytes that base64 text decodes to.
    static func byteCount(_ base64: String) -> Int {
        base64.utf8.count / 4 * 3 - base64.utf8.suffix(2).count { $0 == UInt8(ascii: "=") }
    }

    static var empty: [String: Any] { ["text": localized("none"), "isEmpty": true] }

    private static func value(_ json: JSON, _ type: PropertyType, limit: Int?) -> [String: Any] {
        switch (json, type) {
        case (.bool(let flag), _): return ["text": plain(json), "isTruth": true, "isTrue": flag]
        case (.int, _), (.double, _): return ["text": plain(json), "isNumber": true]
        case (.string(let time), .date): return ["time": time, "text": self.time(time)]
        case (.string(let value), .decimal128): return ["text": value, "isNumber": true]
        case (.string(let value), .data):
            return ["text": bytes(byteCount(value))]
        case (.object, .data): return ["text": bytes(BytesBeginning(json)?.byteCount ?? 0)]
        case (.string(let value), .string):
            if value.isEmpty { return ["text": localized("empty text"), "isEmpty": true] }
            var values = text(value, limit)
            // A list may have only the beginning of an address.
            let isWhole = limit == nil || value.unicodeScalars.count < ResourcePlan.beginningCharacterCount
            if isWhole, let link = HTMLPage.webAddress(value) { values["link"] = link }
            return values
        default: return text(plain(json), limit)
        }
    }

    private static func bytes(_ count: Int) -> String {
        if count == 0 { return localized("no bytes") }
        let number = PanelNumber.text(count)
        return localized(count, one: "\(number) byte", other: "\(number) bytes")
    }

    private static func text(_ text: String, _ limit: Int?) -> [String: Any] {
        guard let limit, text.utf8.count > limit else { return ["text": text] }
        return ["text": text.shortened(toByteCount: limit), "isShortened": true]
    }

    /// `2026-05-14T13:22:18.000000Z` → `2026-05-14 13:22:18 UTC`; omits seconds that are 0.
    static func time(_ text: String) -> String {
        guard text.hasSuffix("Z"), text.contains("T") else { return text }
        let parts = text.dropLast().split(separator: ".", maxSplits: 1)
        var moment = parts[0].replacing("T", with: " ")
        let fraction = parts.count > 1 ? parts[1].trimmingSuffix { $0 == "0" } : ""
        if !fraction.isEmpty { moment += ".\(fraction)" } else if moment.hasSuffix(":00") { moment.removeLast(3) }
        return moment + " UTC"
    }

    /// - Parameter truth: the texts for true and false; nil for words in the page's language.
    static func plain(_ json: JSON, truth: (yes: String, no: String)? = nil) -> String {
        switch json {
        case .null: localized("none")
        case .bool(true): truth?.yes ?? localized("Yes")
        case .bool(false): truth?.no ?? localized("No")
        case .int(let number): String(number)
        case .double(let number): number.description
        case .string(let text): text
        case .array, .object: compact(json)
        }
    }

    static func compact(_ json: JSON) -> String {
        var bytes = JSONBytes()
        json.append(to: &bytes)
        return String(decoding: bytes.bytes, as: UTF8.self)
    }
}

extension StringProtocol {
    /// The text without the trailing characters that satisfy a condition.
    func trimmingSuffix(_ isLeftOut: (Character) -> Bool) -> SubSequence {
        var end = endIndex
        while end > startIndex, isLeftOut(self[index(before: end)]) { end = index(before: end) }
        return self[..<end]
    }
}
