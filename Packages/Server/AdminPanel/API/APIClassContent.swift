import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// The values for the template `api_class`.
struct APIClassContent {
    let examples: RequestExamples
    /// The start of every address in the examples.
    let server: String
    let login: String

    private var type: ResourceType { examples.type }
    private var view: CallerView { examples.view }

    var values: [String: Any] {
        var values: [String: Any] = [
            "login": login, "address": type.path, "data": ClassPages.path(of: type), "fields": fields,
            "filters": filters, "operators": operators, "sections": sections.map(\.values),
        ]
        if let failing = examples.failing {
            values["failing"] =
                [
                    "title": failing.request.title, "command": failing.request.curl(at: server),
                    "status": failing.status, "answer": failing.answer.indented(),
                ] as [String: Any]
        }
        return values
    }

    // MARK: Fields

    /// How many allowed values of a field are listed.
    private static let shownValueCount = 20

    private var fields: [[String: Any]] {
        DescribedField.all(of: type, for: view).map { field in
            var values: [String: Any] = [
                "name": field.name, "type": field.type, "creation": field.creation.title,
                "use": field.isWritable ? localized("writable") : localized("read only"),
            ]
            if let allowed = field.allowed {
                let shown = allowed.values.prefix(Self.shownValueCount).compactMap { ValueText.text($0) }
                let list = shown.joined(separator: ", ") + (allowed.values.count > shown.count ? ", …" : "")
                values["expected"] = localized("one of: \(list)")
            } else {
                values["expected"] = field.expected
            }
            if let hint = field.hint { values["hint"] = localizedText(hint) }
            if let target = field.target {
                var link: [String: Any] = ["name": target.name]
                if view.refusal(.read, target) == nil { link["path"] = APIPages.path(of: target) }
                values["target"] = link
            }
            return values
        }
    }

    private var filters: [[String: Any]] {
        FieldPath.all(of: type, view).map { name, path in
            [
                "name": name,
                "operators": ResourceFilter.operators(path).map(\.rawValue).joined(separator: ", "),
                "sort": path.isSortable ? localized("yes") : localized("no"),
            ]
        }
    }

    private var operators: [[String: Any]] {
        ResourceFilter.Operator.allCases.map { asked in
            ["name": asked.rawValue, "title": FilterTest(rawValue: asked.rawValue)?.title(isTime: false) ?? ""]
        }
    }

    // MARK: Requests

    private struct Section {
        let id: String
        let title: String
        let text: String
        let requests: [ExampleRequest]
        let server: String

        var values: [String: Any] {
            [
                "id": id, "title": title, "text": text,
                "requests": requests.map { ["title": $0.title, "command": $0.curl(at: server)] },
            ]
        }
    }

    private var sections: [Section] {
        [reading, filtering, choosing, paging, creating, changing, linking, removing].filter { !$0.requests.isEmpty }
    }

    private var reading: Section {
        section(
            "read", localized("Read"),
            localized("The version of a resource is in the response's ETag header and in meta.version."),
            [examples.list, examples.single] + examples.related)
    }

    private var filtering: Section {
        section(
            "filter", localized("Filter and sort"),
            localized(
                "Up to \(ResourceQuery.maximumFilterCount) filters, all of which must match. 'in' takes up to "
                    + "\(ResourceQuery.maximumFilterValueCount) values, separated by commas. Sort by up to "
                    + "\(ResourceQuery.maximumSortCount) fields; a minus sorts in descending order."),
            [examples.filter, examples.sorted])
    }

    private var choosing: Section {
        section(
            "parts", localized("Choose what is returned"),
            localized(
                "Up to \(ResourceQuery.maximumIncludeCount) relationships to include, each up to "
                    + "\(ResourceQuery.maximumIncludeDepth) names deep, separated by dots, and up to "
                    + "\(PanelNumber.text(ResourceReader.maximumIncludedCount)) included resources."),
            [examples.sparse, examples.including])
    }

    private var paging: Section {
        section(
            "pages", localized("Pages"),
            localized(
                "A page has \(ResourceQuery.defaultPageSize) resources; you can ask for up to "
                    + "\(ResourceQuery.maximumPageSize). Take the cursor from links.next of the previous page: cursors "
                    + "have no limit. A page number can skip up to \(PanelNumber.text(ResourceQuery.maximumOffset)) "
                    + "resources."),
            [examples.numbered, examples.following])
    }

    private var creating: Section {
        section(
            "create", localized("Create"),
            localized("Another object with the same unique values is refused with 409."), [examples.create])
    }

    private var changing: Section {
        section(
            "change", localized("Change"),
            localized(
                "The example repeats a value that the object already has, so it changes nothing. Fields that you leave "
                    + "out keep their values. With If-Match, the change is refused with 412 if the object's version "
                    + "differs."),
            [examples.update])
    }

    private var linking: Section {
        section(
            "links", localized("Change links"),
            localized(
                "PATCH replaces all links of a relationship. For a list, POST appends links and DELETE removes them."),
            examples.links)
    }

    private var removing: Section {
        section(
            "remove", localized("Remove"),
            type.item.isTrashable
                ? localized("The object moves to the trash with all that belongs to it. The reason is optional.")
                : localized("This can't be undone. DELETE accepts If-Match too."),
            [examples.remove])
    }

    private func section(_ id: String, _ title: String, _ text: String, _ requests: [ExampleRequest?]) -> Section {
        let requests = requests.compactMap { $0 }
        let asking = localized("Replace \(ExampleRequest.placeholder) with the id of an object.")
        return Section(
            id: id, title: title, text: requests.contains(where: \.asksForID) ? "\(text) \(asking)" : text,
            requests: requests, server: server)
    }
}

extension DescribedField.Creation {
    /// The title for pages.
    fileprivate var title: String {
        switch self {
        case .required: localized("required")
        case .optional: localized("optional")
        case .requiredInside: localized("required in its object")
        case .no: localized("no")
        }
    }
}
