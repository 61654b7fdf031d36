import Codemod
import Testing

@Suite struct RuleTests {
    @Test(arguments: [
        ("@objc dynamic var name: String = \"x\"", "@Persisted var name: String = \"x\""),
        ("@objc dynamic var age = 3", "@Persisted var age = 3"),
        ("dynamic var owner: Person?", "@Persisted var owner: Person?"),
        ("private dynamic var _a = 0", "@Persisted private var _a = 0"),
        ("dynamic private var _a = 0", "@Persisted private var _a = 0"),
        ("@objc public private(set) dynamic var a = 0", "@Persisted public private(set) var a = 0"),
        ("@objc\n    dynamic var a = 0", "@Persisted\n    var a = 0"),
        ("@available(*, deprecated) @objc dynamic var a = 0", "@available(*, deprecated) @Persisted var a = 0"),
        ("/// Doc\n@objc dynamic var a = 0 // why", "/// Doc\n@Persisted var a = 0 // why"),
        ("@objc dynamic var `default` = 0", "@Persisted var `default` = 0"),
        ("@objc dynamic var a = 0; @objc dynamic var b = 1", "@Persisted var a = 0; @Persisted var b = 1"),
        ("  @objc dynamic var a = 0, b: Int = 1", "  @Persisted var a = 0\n  @Persisted var b: Int = 1"),
        ("@objc dynamic var born = NSDate()", "@Persisted var born = Date()"),
        ("@objc dynamic var born: NSDate? = nil", "@Persisted var born: Date? = nil"),
        ("@objc dynamic var photo: NSData?", "@Persisted var photo: Data?"),
        ("@objc dynamic var s: NSString = \"\"", "@Persisted var s: String = \"\""),
        ("@objc dynamic var a: Int { 3 }", "var a: Int { 3 }"),
        (
            "@objc dynamic var a = sum([1,\n  2]) +\n  3\nvar b = 1",
            "@Persisted var a = sum([1,\n  2]) +\n  3\nvar b = 1"
        ),
    ])
    func `A dynamic property becomes a persisted one`(_ before: String, _ after: String) {
        #expect(Rewriting.member(before) == after)
    }

    @Test(arguments: [
        ("let dogs = List<Dog>()", "@Persisted var dogs: List<Dog>"),
        ("public let dogs = List<Dog>() // all", "@Persisted public var dogs: List<Dog> // all"),
        ("let dogs: List<Dog> = List<Dog>()", "@Persisted var dogs: List<Dog>"),
        ("let dogs: List<Dog> = .init()", "@Persisted var dogs: List<Dog>"),
        ("var dogs: List<Dog>", "@Persisted var dogs: List<Dog>"),
        ("let dogs = RealmSwift.List<Dog>()", "@Persisted var dogs: RealmSwift.List<Dog>"),
        ("@objc dynamic var dogs = List<Dog>()", "@Persisted var dogs: List<Dog>"),
        ("let names = MutableSet<String?>()", "@Persisted var names: MutableSet<String?>"),
        ("let map = Map<String, Int>()", "@Persisted var map: Map<String, Int>"),
        ("let age = RealmOptional<Int>()", "@Persisted var age: Int?"),
        ("let age = RealmOptional<Int>(5)", "@Persisted var age: Int? = 5"),
        ("let age: RealmOptional<Int> = RealmOptional()", "@Persisted var age: Int?"),
        ("private let age = RealmProperty<Int?>()", "@Persisted private var age: Int?"),
        ("let any = RealmProperty<AnyRealmValue>()", "@Persisted var any: AnyRealmValue"),
        (
            "let owners = LinkingObjects(fromType: Person.self, property: \"dogs\")",
            "@Persisted(originProperty: \"dogs\") var owners: LinkingObjects<Person>"
        ),
        (
            "let owners: LinkingObjects<Person> = LinkingObjects(fromType: Person.self, property: #keyPath(Person.dogs))",
            "@Persisted(originProperty: \"dogs\") var owners: LinkingObjects<Person>"
        ),
    ])
    func `Properties of Realm's own types get a type annotation`(_ before: String, _ after: String) {
        #expect(Rewriting.member(before) == after)
    }

    @Test(arguments: [
        "let a = 3", "var plain = 3", "lazy var a = 3", "static let a = List<Int>()",
        "var computed: List<Int> { other }",
        "func f() { let xs = List<Int>(); dynamic() }", "@Persisted var xs: List<Int>",
        "// @objc dynamic var a = 0", "/* /* @objc */ dynamic var a = 0 */",
        "let text = \"\"\"\n  @objc dynamic var a = 0\n  \"\"\"", "let raw = #\"{ \" @objc dynamic var \\(x) \"#",
        "let pattern = /\"{/", "let deep = \"\\(\"\\(\"}\")\")\"",
    ])
    func `Anything but a dynamic property is left unchanged`(_ text: String) {
        #expect(Rewriting.member(text) == text)
    }

    @Test(arguments: [
        ("override init() { super.init() }", "required init() { super.init() }"),
        ("required override init() { super.init() }", "required init() { super.init() }"),
        ("required init() { super.init() }", "required init() { super.init() }"),
        ("convenience init(a: Int) { self.init() }", "convenience init(a: Int) { self.init() }"),
        (
            "required init(realm: RLMRealm, schema: RLMObjectSchema) {\n  super.init(realm: realm, schema: schema)\n}\nvar a = 0",
            "var a = 0"
        ),
        (
            "override class func primaryKey() -> String? { \"id\" }",
            "override class func primaryKey() -> String? { \"id\" }"
        ),
        (
            "override static func indexedProperties() -> [String] { [#keyPath(Dog.name), \"age\"] }",
            "override static func indexedProperties() -> [String] { [\"name\", \"age\"] }"
        ),
        ("@objc func bark() {}", "func bark() {}"),
    ])
    func `Initialisers and overrides fit a base class without the ObjC runtime`(_ before: String, _ after: String) {
        #expect(Rewriting.member(before) == after)
    }

    @Test func `Ignored properties stay plain, including those that a superclass ignores`() {
        let text = """
            class Base: Object {
                @objc dynamic var a = 0
                @objc dynamic var b = 0
                override class func ignoredProperties() -> [String] { return ["b", "c"] }
            }
            class Dog: Base {
                @objc dynamic var c = 0
                @objc dynamic var d = 0
            }
            """
        let result = Rewriting.file(text)
        #expect(result.contains("    @Persisted var a = 0\n    var b = 0\n"))
        #expect(result.contains("    var c = 0\n    @Persisted var d = 0\n"))
    }

    @Test func `A declaration of both ignored and other properties is reported, not rewritten`() {
        let text = """
            class Dog: Object {
                @objc dynamic var a = 0, b = 0
                @objc dynamic var c = 0, d = 0
                @objc dynamic var e = 0, f = 0
                let g = List<Int>(), h = List<Int>()
                override class func ignoredProperties() -> [String] { return ["a", "d", "e", "f", "g"] }
            }
            """
        let file = Rewriting.run(text)
        #expect(file.text == text.replacing("@objc dynamic var e", with: "var e"))
        #expect(file.findings.map(\.line) == [2, 3, 5])
        #expect(file.findings.allSatisfy { $0.kind == .warning })
    }

    @Test func `A class is left unchanged if its ignored properties cannot be determined`() {
        let text = """
            class Dog: Object {
                @objc dynamic var a = 0
                override class func ignoredProperties() -> [String] { names.filter { $0 != "b" } }
            }
            """
        let file = Rewriting.run(text)
        #expect(!file.isChanged)
        #expect(file.findings.map(\.line) == [1])
    }

    @Test func `Stored enumerations become persistable where they are declared`() {
        let files = Codemod().rewrite([
            SourceFile(
                path: "Dog.swift",
                text: """
                    class Dog: Object {
                        @objc dynamic var breed: Breed = .mongrel
                        @objc dynamic var size = Size.small
                        @objc dynamic var sex = Sex.female
                        let moods = List<Mood>()
                        @objc dynamic var raw = Other.a.rawValue
                        @objc enum Sex: Int, Codable { case female, male }
                    }
                    """),
            SourceFile(
                path: "Breed.swift",
                text: """
                    @objc enum Breed: Int { case mongrel }
                    @objc public enum Size: Int, RealmEnum { case small }
                    enum Mood: String { case good }
                    extension Mood: PersistableEnum {}
                    enum Other: String { case a }
                    """),
        ])
        #expect(
            files[1].text == """
                enum Breed: Int, PersistableEnum { case mongrel }
                public enum Size: Int, PersistableEnum { case small }
                enum Mood: String { case good }
                extension Mood: PersistableEnum {}
                enum Other: String { case a }
                """)
        #expect(files[0].text.contains("    enum Sex: Int, Codable, PersistableEnum { case female, male }"))
    }

    @Test func `A class may be a model through classes and aliases in other files`() {
        let files = Codemod().rewrite([
            SourceFile(path: "C.swift", text: "class C: Outer.B { @objc dynamic var c = 0 }"),
            SourceFile(path: "B.swift", text: "extension Outer { class B: A<Int> { @objc dynamic var b = 0 } }"),
            SourceFile(path: "A.swift", text: "enum Outer {}\ntypealias Base = RealmSwift.Object\nclass A<T>: Base {}"),
        ])
        #expect(files[0].text == "class C: Outer.B { @Persisted var c = 0 }")
        #expect(files[1].text == "extension Outer { class B: A<Int> { @Persisted var b = 0 } }")
    }

    @Test(arguments: [
        "class Meter: UIView { @objc dynamic var level = 0; let xs = List<Int>() }",
        "class Object {}\nclass Mine: Object { @objc dynamic var a = 0 }",
        "class A: B { @objc dynamic var a = 0 }\nclass B: A { @objc dynamic var b = 0 }",
        "struct Object2: Object { dynamic var a = 0 }",
        "@objc enum Level: Int { case low }\nclass V: NSObject { @objc dynamic var level: Level = .low }",
    ])
    func `Classes that are not models are left unchanged`(_ text: String) {
        #expect(Rewriting.file(text) == text)
    }

    @Test func `The value of an optional becomes the optional itself where that is certain`() {
        let text = """
            class Dog: Object {
                let age = RealmOptional<Int>()
                convenience init(age: Int) { self.init(); self.age.value = age }
                func grow() { age.value = (age.value ?? 0) + 1 }
            }
            func ages(_ dogs: [Dog]) -> String { "\\(dogs[0].age.value!) \\(dogs.first?.age.value ?? 0)" }
            let path = \\Dog.age.value
            let other = meter.value
            """
        #expect(
            Rewriting.file(text) == """
                class Dog: Object {
                    @Persisted var age: Int?
                    convenience init(age: Int) { self.init(); self.age = age }
                    func grow() { age = (age ?? 0) + 1 }
                }
                func ages(_ dogs: [Dog]) -> String { "\\(dogs[0].age!) \\(dogs.first?.age ?? 0)" }
                let path = \\Dog.age
                let other = meter.value
                """)
    }

    @Test(arguments: [
        "func f(age: Box<Int>) { print(age.value) }", "init(_ age: Box<Int>) { print(age.value) }",
        "func f() { for age in ages { print(age.value) } }", "func f() { ages.forEach { age in print(age.value) } }",
        "func f() { pairs.forEach { age, _ in print(age.value) } }", "func f() { let age = ages[0]; print(age.value) }",
    ])
    func `The value of a local variable that shares an optional's name stays, and is reported`(_ member: String) {
        let file = Rewriting.run("class Dog: Object {\n    let age = RealmOptional<Int>()\n    \(member)\n}\n")
        #expect(file.text == "class Dog: Object {\n    @Persisted var age: Int?\n    \(member)\n}\n")
        #expect(file.findings.map(\.line) == [3])
    }

    @Test func `Casts and initialisers of dates match the property they are assigned to`() {
        let text = """
            class Dog: Object { @objc dynamic var born = NSDate() }
            func f(_ dog: Dog, _ any: Any) {
                dog.born = NSDate()
                dog.born = make()! as NSDate
                dog.born = any as! NSDate
                view.shown = date as NSDate
            }
            """
        #expect(
            Rewriting.file(text) == """
                class Dog: Object { @Persisted var born = Date() }
                func f(_ dog: Dog, _ any: Any) {
                    dog.born = Date()
                    dog.born = make()! as Date
                    dog.born = any as! Date
                    view.shown = date as NSDate
                }
                """)
    }

    @Test func `The ObjC library's import is removed`() {
        #expect(Rewriting.file("import Realm\nimport RealmSwift\n") == "import RealmSwift\n")
        #expect(Rewriting.file("import Realm\n") == "import RealmSwift\n")
    }

    @Test func `Line endings, byte order mark and a missing final newline are kept`() {
        let text = "\u{FEFF}class Dog: Object {\r\n\t@objc dynamic var a = 0, b = 1\r\n}"
        #expect(
            Rewriting.file(text)
                == "\u{FEFF}class Dog: Object {\r\n\t@Persisted var a = 0\r\n\t@Persisted var b = 1\r\n}")
    }
}
