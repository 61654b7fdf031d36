import HTTPTypes
package import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloLocalization

/// Requests about the objects of one class that a caller may send. Those that change something repeat the current
/// values, so that trying one out changes nothing. Those that remove something leave the id to the reader.
package struct RequestExamples: Sendable {
    /// Objects that the requests are about.
    package struct Samples: Sendable {
        package var read: ResourceSample?
        package var update: ResourceSample?
        /// An object as the caller could make one.
        package var create: ResourceSample?
        /// The resource identifiers that a new object links to, by relationship.
        package var links: [String: JSON] = [:]

        package init() {}
    }

    package let type: ResourceType
    package let view: CallerView
    let samples: Samples

    package init(_ type: ResourceType, for view: CallerView, with samples: Samples) {
        self.type = type
        self.view = view
        self.samples = samples
    }

    var fields: [ResourceField] { view.fields(of: type) }

    /// The class in the plural, as in addresses.
    var name: String { type.name }

    /// The relationships whose resources can be requested.
    var relationships: [(field: ResourceField, target: ResourceType)] {
        fields.compactMap { field in field.target.flatMap { view.types[$0] }.map { (field, $0) } }
    }

    /// - Parameter id: nil for an id that the reader chooses.
    func path(_ id: String?, _ parts: String...) -> String {
        let parts = [id ?? ExampleRequest.placeholder] + parts
        return "\(type.path)/\(parts.map(RequestParameters.encode).joined(separator: "/"))"
    }

    // MARK: Reading

    package var list: ExampleRequest { ExampleRequest(localized("List \(name)"), .get, type.path) }

    package var single: ExampleRequest {
        ExampleRequest(localized("Read one of the \(name)"), .get, path(samples.read?.id))
    }

    /// Requests for the targets of the first relationship, as resources and as identifiers.
    package var related: [ExampleRequest] {
        guard let field = relationships.first?.field else { return [] }
        return [
            ExampleRequest(localized("Read what '\(field.name)' links to"), .get, path(samples.read?.id, field.name)),
            ExampleRequest(
                localized("Read which resources '\(field.name)' links to"), .get,
                path(samples.read?.id, "relationships", field.name)),
        ]
    }

    // MARK: Parts of lists

    package var filter: ExampleRequest {
        let found = [ResourceFilter.Operator.contains, .ge, .eq].compactMap(filter)
        let query = found.isEmpty ? [(name: "filter[id]", value: samples.read?.id ?? example(type.keyType))] : found
        return ExampleRequest(localized("Filter the \(name)"), .get, type.path, query: query)
    }

    /// The first field that suits this operator, and no other operator as well.
    private func filter(_ asked: ResourceFilter.Operator) -> (name: String, value: String)? {
        let title = view.titleField(of: type)?.name
        let found = FieldPath.all(of: type, view).first { name, path in
            let operators = ResourceFilter.operators(path)
            return switch asked {
            case .contains: name == title
            case .ge: operators.contains(.ge) && !operators.contains(.contains) && name != "id"
            default: path.target != nil && operators.contains(asked)
            }
        }
        guard let (name, path) = found else { return nil }
        let value: String
        if path.target != nil, case .string(let id)? = samples.read?.linked(name).first?["id"] {
            value = id
        } else {
            value = example(path.type)
        }
        let field = name.split(separator: ".").map { RequestParameters.encode(String($0)) }.joined(separator: ".")
        return (asked == .eq ? "filter[\(field)]" : "filter[\(field)][\(asked.rawValue)]", value)
    }

    package var sorted: ExampleRequest {
        let sortable = FieldPath.all(of: type, view).filter(\.path.isSortable).map(\.name)
        let names = sortable.filter { $0 != "id" }.prefix(2)
        let orders = names.isEmpty ? ["-id"] : ["-\(names[0])"] + names.dropFirst()
        return ExampleRequest(
            localized("Sort the \(name)"), .get, type.path, query: [("sort", orders.joined(separator: ","))])
    }

    package var sparse: ExampleRequest? {
        guard !fields.isEmpty else { return nil }
        let names = fields.prefix(3).map(\.name).joined(separator: ",")
        return ExampleRequest(
            localized("Show only some fields of the \(name)"), .get, type.path,
            query: [("fields[\(RequestParameters.encode(name))]", names)])
    }

    package var including: ExampleRequest? {
        let readable = relationships.filter { view.refusal(.read, $0.target) == nil }.prefix(2)
        guard !readable.isEmpty else { return nil }
        return ExampleRequest(
            localized("List \(name) with what they link to"), .get, type.path,
            query: [("include", readable.map(\.field.name).joined(separator: ","))])
    }

    package var numbered: ExampleRequest {
        ExampleRequest(
            localized("The second page of the \(name), with the total"), .get, type.path,
            query: [("page[size]", "10"), ("page[number]", "2"), ("page[total]", "true")])
    }

    package var following: ExampleRequest {
        let sorts = [ResourceQuery.Sort(column: type.key, type: type.keyType, isAscending: true)]
        let key = type.keyValue(samples.read?.id ?? example(type.keyType))
        return ExampleRequest(
            localized("The page of the \(name) after a cursor"), .get, type.path,
            query: [("page[size]", "10"), ("page[after]", ResourcePage.encode(key.map { [$0] } ?? [], sorts))])
    }

    func example(_ type: PropertyType) -> String { ValueText.example(type) }
}
