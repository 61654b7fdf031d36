import AdminService
import TomboloHTTP
import TomboloLocalization

/// The values for the template `trash_emptying`: the progress, and how to continue.
struct EmptyingContent: Sendable {
    struct Next: Sendable {
        let after: String
        let chosenClass: String?
        let objects: Int
        let groups: Int
        let total: Int
    }

    struct Progress: Sendable {
        let done: Int
        let total: Int
    }

    struct Kept: Sendable {
        let group: String
        let reason: String
    }

    private(set) var status = ""
    private(set) var objects: Int
    private(set) var groups: Int
    /// The number of groups at the start; 0 before it has started.
    var total: Int
    private(set) var progress: Progress?
    private(set) var next: Next?
    private(set) var kept: [Kept] = []

    /// - Parameter form: the form of the previous request, which reports the progress so far. It's only for display.
    init(_ form: [String: String]) {
        func number(_ name: String) -> Int {
            form[name].flatMap { Int($0) }.map { max(0, min($0, 1_000_000_000)) } ?? 0
        }
        objects = number("objects")
        groups = number("groups")
        total = number("total")
    }

    mutating func add(_ answer: JSON, _ chosenClass: String?) {
        objects += answer["count"]?.number ?? 0
        groups += answer["groups"]?.number ?? 0
        if case .array(let items)? = answer["kept"] {
            kept = items.compactMap { item in
                guard let group = item["group"]?.text, let reason = item["reason"]?.text else { return nil }
                return Kept(group: group, reason: reason)
            }
        }
        next = answer["next"]?.text.map {
            Next(after: $0, chosenClass: chosenClass, objects: objects, groups: groups, total: total)
        }
        progress = next == nil ? nil : Progress(done: min(groups, total), total: max(total, 1))
        let what = Self.deleted(objects, inGroups: groups)
        status = next == nil ? what : localized("\(what) There is more.")
    }

    /// `3 objects in 2 groups were deleted permanently.`
    static func deleted(_ objects: Int, inGroups groups: Int) -> String {
        let (things, number) = (Counted.objects(objects), PanelNumber.text(groups))
        let places = localized(groups, one: "\(number) group", other: "\(number) groups")
        return localized(
            objects, one: "\(things) in \(places) was deleted permanently.",
            other: "\(things) in \(places) were deleted permanently.")
    }
}

extension JSON {
    /// A whole number; nil for everything else.
    var number: Int? { if case .int(let number) = self { Int(number) } else { nil } }
}
