extension ExchangeDecoder {
    static let defaultZoom = 13
    /// The ranges of maps. A value outside isn't a location or a zoom level.
    static let latitudes = -90.0...90.0
    static let longitudes = -180.0...180.0
    static let zooms = 0...22
    /// The longest name of a type.
    static let maximumTypeLength = 100

    mutating func reply(_ action: JSON, _ data: [JSON]) -> Exchange.Reply {
        var fields = Fields(action)
        let decoded: Action
        switch fields.type.flatMap(ActionType.init) {
        case .answer:
            decoded = .answer(
                expression: cut(fields.text("expression"), "expression"),
                language: fields.optionalText("language").map { cut($0, "language") })
        case .websearch:
            let limit = fields.limit()
            decoded = .websearch(
                query: cut(fields.text("query"), "query"), limit: limit, results: entries(&fields, data, limit))
        case .rss:
            let limit = fields.limit()
            decoded = .rss(limit: limit, feed: entries(&fields, data, limit))
        case .table: decoded = table(&fields, data)
        case .map:
            decoded = .map(
                latitude: fields.number("latitude", in: Self.latitudes) ?? 0,
                longitude: fields.number("longitude", in: Self.longitudes) ?? 0,
                zoom: fields.integer("zoom", in: Self.zooms) ?? Self.defaultZoom)
        case .anchor:
            decoded = .anchor(link: cut(fields.text("link"), "link"), text: cut(fields.text("text"), "text"))
        case .stop: decoded = .stop
        case .videoPlay, .audioPlay:
            let identifier = cut(fields.text("identifier"), "identifier")
            let kind = cut(fields.optionalText("identifier_type") ?? "", "identifier_type")
            decoded =
                fields.type == ActionType.videoPlay.rawValue
                ? .video(identifier: identifier, kind: kind) : .audio(identifier: identifier, kind: kind)
        case nil:
            decoded = .unknown(type: String((fields.type ?? Action.unknownType).prefix(Self.maximumTypeLength)))
            note("the action '\(decoded.type)' is unknown and was kept raw")
        }
        if case .unknown = decoded { return Exchange.Reply(action: decoded, raw: cut(action.text, "raw")) }
        guard !fields.unread.isEmpty else { return Exchange.Reply(action: decoded, raw: nil) }
        note("\(decoded.type): \(fields.unread.joined(separator: ", ")) can't be read; the action was also kept raw")
        return Exchange.Reply(action: decoded, raw: cut(action.text, "raw"))
    }

    // MARK: Rows of the data that actions share

    /// With `title`, `description` and `link`, an action says which columns of the data to show in these roles.
    private mutating func entries(_ fields: inout Fields, _ data: [JSON], _ limit: Int?) -> [Action.Entry] {
        let title = fields.optionalText("title") ?? "title"
        let description = fields.optionalText("description") ?? "description"
        let link = fields.optionalText("link") ?? "link"
        var result: [Action.Entry] = []
        for row in data.prefix(limit ?? data.count) {
            let cells = Cells(row)
            let entry = Action.Entry(
                title: cut(cells[title], title), description: cut(cells[description], description),
                link: cut(cells[link], link))
            // The data may be meant for another action. But even fruitless attempts take time if there are thousands
            // of actions.
            let isEmpty = entry.title.isEmpty && entry.description.isEmpty && entry.link.isEmpty
            guard allowance.take(isEmpty ? [] : [entry.title, entry.description, entry.link]) else {
                note("\(data.count - result.count) rows or more were left out: \(RowAllowance.explanation)")
                break
            }
            if !isEmpty { result.append(entry) }
        }
        return result
    }

    /// `columns` names the columns to show, in order. Without it, the first row's columns are used.
    private mutating func table(_ fields: inout Fields, _ data: [JSON]) -> Action {
        var columns: [Action.Column] = []
        var places: [String: Int] = [:]
        func add(_ original: String, _ shown: String) {
            if let place = places[original] {
                columns[place].shown = shown
            } else if columns.count < RowAllowance.maximumColumnCount {
                places[original] = columns.count
                columns.append(Action.Column(original: original, shown: shown))
            }
        }
        let limit = fields.limit()
        if let members = fields.members("columns") {
            for member in members {
                add(cut(member.name, "columns"), cut(member.value.string ?? member.name, "columns"))
            }
        } else if case .object(let members)? = data.first {
            for member in members { add(cut(member.name, "columns"), cut(member.name, "columns")) }
        }
        guard allowance.take(columns.flatMap { [$0.original, $0.shown] }) else {
            note("a table was left out: \(RowAllowance.explanation)")
            return .table(columns: [], rows: [])
        }
        var rows: [[String]] = []
        for row in data.prefix(limit ?? data.count) {
            let cells = Cells(row)
            let texts = columns.map { cut(cells[$0.original], $0.original) }
            guard allowance.take(texts) else {
                note("\(data.count - rows.count) rows or more were left out: \(RowAllowance.explanation)")
                break
            }
            rows.append(texts)
        }
        return .table(columns: columns, rows: rows)
    }
}
