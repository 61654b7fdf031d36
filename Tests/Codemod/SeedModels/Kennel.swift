import RealmSwift

/// What all animals have.
open class Animal: Object {
    @Persisted public var id: Int = 0
    @Persisted public var name: String?
    @Persisted private(set) var weight = 1.5
    @Persisted private(set) var height: Double = 0.5
    @Persisted public var kind = Kind.mammal

    public override static func primaryKey() -> String? { "id" }
    override public class func ignoredProperties() -> [String] { ["nickname"] }
    override open class func indexedProperties() -> [String] {
        return ["name"]
    }

    /// Not stored.
    var nickname = ""
    var isHeavy: Bool { weight > 20 }

    public required init() {
        super.init()
    }

    func grow(by kilograms: Double) { weight += kilograms }
}

public enum Kind: Int, PersistableEnum {
    case mammal, bird
}

final class Dog: Animal {
    /* the owner's word for it */ @Persisted var breed: Breed = .mongrel
    @Persisted var age: Int?
    @Persisted public var score: Double? = 2.5  // stars
    @Persisted var photo: Data?
    @Persisted var tags: List<String>
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<Owner>

    required init() {
        super.init()
    }

    func birthday() {
        age = (self.age ?? 0) + 1
    }

    enum Breed: Int, PersistableEnum {
        case mongrel, poodle
    }
}

class Owner: Object {
    @Persisted var name = ""
    @Persisted var dogs: List<Dog>

    var ages: String { dogs.map { "\($0.name ?? "?"): \($0.age ?? 0)" }.joined(separator: ", ") }
}
