import RandomValues
import TomboloModel

/// The documents of an app whose models change at random: properties and classes are added, removed and renamed.
struct ModelEvolution {
    var random: SeededGenerator
    private var classes: [(name: String, previous: [String], properties: [ModelProperty])] = []
    private var count = 0

    init(random: SeededGenerator) { self.random = random }

    /// The tables that accept a row with nothing but a key.
    var tables: [String] { classes.map { Column.sqlName(for: $0.name) } }

    mutating func next() throws -> ModelDocument {
        if classes.isEmpty { for _ in 0..<3 { addClass() } }
        for index in classes.indices {
            for position in classes[index].properties.indices.reversed() {
                switch Int.random(in: 0..<5, using: &random) {
                case 0: classes[index].properties.remove(at: position)
                case 1:
                    let old = classes[index].properties[position]
                    classes[index].properties[position] = ModelProperty(
                        name: newName("p"), type: old.type, isOptional: old.isOptional, isIndexed: old.isIndexed,
                        previousNames: [old.name])
                default: break
                }
            }
            for _ in 0..<2 { classes[index].properties.append(property()) }
        }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: addClass()
        case 1:
            let index = Int.random(in: 0..<classes.count, using: &random)
            let old = classes[index].name
            let name = newName("Class")
            classes[index].previous = [old]
            classes[index].name = name
            retarget(old, name)
        default: break
        }
        return try ModelDocument(
            app: "evolving",
            classes: classes.map { item in
                let key = ModelProperty(name: "_id", type: .string, isPrimaryKey: true)
                return ModelClass(
                    name: item.name, table: Column.sqlName(for: item.name), properties: [key] + item.properties,
                    previousNames: item.previous)
            })
    }

    private mutating func newName(_ prefix: String) -> String {
        count += 1
        return "\(prefix)\(count)"
    }

    private mutating func addClass() {
        classes.append((newName("Class"), [], []))
    }

    /// Updates links to a class's new name.
    private mutating func retarget(_ old: String, _ new: String) {
        for index in classes.indices {
            classes[index].properties = classes[index].properties.map { property in
                let type: PropertyType =
                    switch property.type {
                    case .link(to: old): .link(to: new)
                    case .list(.link(to: old), _): .list(.link(to: new), isOptional: false)
                    default: property.type
                    }
                return ModelProperty(
                    name: property.name, type: type, isOptional: property.isOptional, isIndexed: property.isIndexed,
                    previousNames: property.previousNames)
            }
        }
    }

    private mutating func property() -> ModelProperty {
        let name = newName("p")
        let target = classes.randomElement(using: &random)?.name ?? ""
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return ModelProperty(name: name, type: .link(to: target), isOptional: true)
        case 1: return ModelProperty(name: name, type: .list(.link(to: target), isOptional: false))
        case 2: return ModelProperty(name: name, type: .list(.int(bits: 16), isOptional: true))
        default:
            let types: [PropertyType] = [.string, .int(bits: 8), .date, .decimal128, .uuid, .objectId, .data, .bool]
            return ModelProperty(
                name: name, type: types.randomElement(using: &random) ?? .bool, isOptional: Bool.random(using: &random),
                isIndexed: Bool.random(using: &random))
        }
    }
}
