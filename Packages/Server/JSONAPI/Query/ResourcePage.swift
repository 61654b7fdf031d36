import Foundation
import TomboloHTTP
package import TomboloModel
import TomboloLocalization

/// The part of a list that a request asks for: by page number, or after a cursor.
package struct ResourcePage: Sendable {
    package private(set) var size: Int
    /// From 1; nil for pages by cursor.
    package private(set) var number: Int?
    /// Whether the request asks for the total number of resources.
    package private(set) var wantsTotal = false
    private var cursor: RequestParameters.Parameter?
    /// The sort keys of the row before the page.
    package private(set) var after: [Value]?
    /// How many rows after that row, or from the first row if there is none, the page leaves out.
    private var skipped = 0

    /// How many rows come before the page, after ``after``.
    package var offset: Int { number.map { ($0 - 1) * size } ?? skipped }

    /// The first page.
    package init(size: Int = ResourceQuery.defaultPageSize) { self.size = size }

    /// The beginning of the page, with at most `count` rows.
    package func prefix(_ count: Int) -> ResourcePage {
        var page = self
        (page.skipped, page.number, page.size) = (offset, nil, min(size, count))
        return page
    }

    package mutating func read(_ parameter: RequestParameters.Parameter) throws {
        switch parameter.keys[0] {
        case "size":
            guard let size = Int(parameter.value), (1...ResourceQuery.maximumPageSize).contains(size) else {
                throw parameter.failure(expected: localized("a number from 1 to \(ResourceQuery.maximumPageSize)"))
            }
            self.size = size
        case "number":
            guard let number = Int(parameter.value), (1...ResourceQuery.maximumOffset).contains(number) else {
                throw parameter.failure(expected: localized("a number from 1 to \(ResourceQuery.maximumOffset)"))
            }
            self.number = number
        case "after":
            cursor = parameter
        case "total":
            guard case .bool(let wanted)? = ValueText.value(parameter.value, .bool) else {
                throw parameter.failure(expected: localized("true or false"))
            }
            wantsTotal = wanted
        default:
            throw parameter.failure(
                localized("it isn't supported here."),
                ResourceQuery.nearest(parameter.keys[0], ["size", "number", "after", "total"]).localized)
        }
    }

    /// Reads the cursor for this order.
    package mutating func check(_ sorts: [ResourceQuery.Sort]) throws {
        guard offset <= ResourceQuery.maximumOffset else {
            throw RequestFailure(
                .badRequest,
                localized(
                    "The page would skip \(offset) resources; the limit is \(ResourceQuery.maximumOffset)."
                ),
                hint: localized("Follow 'links.next' of a list without page[number]: cursors have no limit."),
                source: .parameter("page[number]"))
        }
        guard let cursor else { return }
        guard number == nil else {
            throw cursor.failure(
                localized("it can't be combined with page[number]."), localized("Send one of the two."))
        }
        guard let (values, skipped) = Self.decode(cursor.value, sorts) else {
            throw cursor.failure(
                localized("it isn't a cursor for a list in this order."),
                localized("Take it from 'links.next', with the same 'sort'."))
        }
        after = values
        self.skipped = skipped
    }

    // MARK: Cursors

    /// Identifies the order, so that a cursor isn't used for another one.
    private static func signature(_ sorts: [ResourceQuery.Sort]) -> String {
        sorts.map { "\($0.isAscending ? "" : "-")\($0.column.name)" }.joined(separator: ",")
    }

    /// The most bytes of a cursor, and of a string in it. An address has room for that, and for filters as well.
    package static let maximumCursorByteCount = 4_096

    /// The cursor for the row with these values in the order's columns.
    /// - Parameters:
    ///   - values: nil for the beginning of the list.
    ///   - skipped: how many rows to leave out after that row.
    package static func encode(
        _ values: [Value]?, _ sorts: [ResourceQuery.Sort], skipping skipped: Int = 0
    ) -> String {
        var json = JSONBytes()
        let head = signature(sorts) + (skipped > 0 ? "\(skippingMark)\(skipped)" : "")
        JSON.array([.string(head)] + (values ?? []).map { ValueText.text($0).map(JSON.string) ?? .null })
            .append(to: &json)
        // base64url (RFC 4648, section 5) without padding.
        let bytes = Data(json.bytes).base64EncodedData().compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// No column's name contains this.
    private static let skippingMark = " +"

    private static func decode(_ text: String, _ sorts: [ResourceQuery.Sort]) -> (after: [Value]?, skipped: Int)? {
        var base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: base64),
            let parts = try? JSONDecoder().decode([String?].self, from: data),
            let head = parts.first ?? nil, head.hasPrefix(signature(sorts))
        else { return nil }
        var skipped = 0
        let rest = head.dropFirst(signature(sorts).count)
        if !rest.isEmpty {
            guard rest.hasPrefix(skippingMark), let count = Int(rest.dropFirst(skippingMark.count)),
                (1...ResourceQuery.maximumOffset).contains(count)
            else { return nil }
            skipped = count
            if parts.count == 1 { return (nil, skipped) }
        }
        guard parts.count == sorts.count + 1 else { return nil }
        var values: [Value] = []
        for (part, sort) in zip(parts.dropFirst(), sorts) {
            guard let part else {
                guard sort.column.isOptional else { return nil }
                values.append(.null)
                continue
            }
            guard let value = ValueText.value(part, sort.type, isOwn: true) else { return nil }
            values.append(value)
        }
        return (values, skipped)
    }

    /// The condition for rows after the cursor's. Null comes first in ascending and last in descending order.
    package func condition(_ sorts: [ResourceQuery.Sort]) -> TomboloModel.Predicate {
        guard let after else { return .constant(true) }
        var condition = TomboloModel.Predicate.constant(false)
        for (sort, value) in zip(sorts, after).reversed() {
            let isEqual = TomboloModel.Predicate.compare(sort.path, .equal, value)
            let follows: TomboloModel.Predicate =
                switch (value.isNull, sort.isAscending) {
                case (true, true): .compare(sort.path, .notEqual, .null)
                case (true, false): .constant(false)
                case (false, true): .compare(sort.path, .greater, value)
                case (false, false):
                    .any([
                        .compare(sort.path, .less, value),
                        sort.column.isOptional ? .compare(sort.path, .equal, .null) : .constant(false),
                    ])
                }
            condition = .any([follows, .all([isEqual, condition])])
        }
        // An index can begin at the first column alone.
        guard let first = sorts.first, let value = after.first, !value.isNull, sorts.count > 1 else { return condition }
        if first.isAscending { return .all([.compare(first.path, .greaterOrEqual, value), condition]) }
        return first.column.isOptional ? condition : .all([.compare(first.path, .lessOrEqual, value), condition])
    }
}
