import Codemod
import Testing

@Suite struct FindingTests {
    /// The findings about a member of `class Dog: Object`, which must stay unchanged.
    private func left(_ member: String) -> [String] {
        let file = Rewriting.run("class Dog: Object {\n\(member)\n}\n")
        #expect(!file.isChanged, "\(file.diff)")
        return file.findings.map { "\($0.line):\($0.column) \($0.message)" }
    }

    @Test(arguments: [
        ("@objc dynamic var a: NSNumber?", "2:19 'a' is of type NSNumber"),
        ("@objc dynamic var a: [String] = []", "2:19 'a' is of type [String]"),
        ("@objc dynamic var a, b: Int", "2:19 One declaration has several variables"),
        ("@objc(other) dynamic var a = 0", "2:26 'a' has another name in Objective-C"),
        ("@objc var a = 0", "2:11 'a' is visible to the ObjC runtime but not 'dynamic'"),
        ("@objc dynamic static var a = 0", "2:26 'a' isn't a stored instance property"),
        ("let a = List<Int /* key */>()", "2:5 There's a comment inside the declaration of 'a'"),
        ("let a: List = List()", ""),
        ("let a = LinkingObjects(fromType: type, property: name)", "2:5 'a' is LinkingObjects with a class"),
        ("override func isEqual(_ object: Any?) -> Bool { true }", "2:10 'isEqual' overrides a method of NSObject"),
        ("init(a: Int) { self.name = a; super.init() }\n@Persisted var name: Int", "2:16 'name' is set before"),
        ("func f() { g(#selector(h)) }", "2:14 '#selector' needs the ObjC runtime"),
    ])
    func `A declaration that is not rewritten is reported with its place`(_ member: String, _ expected: String) {
        let findings = left(member)
        if expected.isEmpty {
            #expect(findings.isEmpty, "\(findings)")
        } else {
            #expect(findings.count == 1 && findings[0].hasPrefix(expected), "\(findings)")
        }
    }

    @Test(arguments: [
        ("@objc dynamic var a: Double = .nan", "2:19 'a' is NaN at first"),
        ("@objc dynamic var a = Float.nan", "2:19 'a' is NaN at first"),
        ("@objc dynamic var a = Dog()", "2:19 'a' links to Dog and isn't optional"),
        ("@objc dynamic var a: Dog", "2:19 'a' links to Dog and isn't optional"),
        ("@objc dynamic var a: Size = .small", "2:19 'a' is a Size, which isn't in the input"),
        ("@objc dynamic var a = 0 { didSet { show() } }", "2:19 'a' has observers"),
        ("@objc func bark() {}", "2:7 'bark' is no longer visible to the ObjC runtime"),
    ])
    func `A rewritten declaration that needs a check is reported with its place`(_ member: String, _ expected: String) {
        let file = Rewriting.run("class Dog: Object {\n\(member)\n}\n")
        #expect(file.isChanged)
        let findings = file.findings.map { "\($0.line):\($0.column) \($0.message)" }
        #expect(findings.count == 1 && findings[0].hasPrefix(expected), "\(findings)")
    }

    @Test func `Key-value observing of models is reported, with what to write instead`() throws {
        let text = """
            class Weather: Object {
                @Persisted var status = 0
                func add(_ observer: NSObject) {
                    addObserver(observer, forKeyPath: #keyPath(Weather.status), options: .initial, context: nil)
                }
                func remove(_ observer: NSObject) {
                    removeObserver(observer, forKeyPath: #keyPath(Weather.status))
                }
            }
            class Screen: UIViewController {
                func start() {
                    weather.addObserver(self, forKeyPath: "status", options: [], context: nil)
                    token = weather.observe(\\.status) { _, _ in }
                    scrollView.addObserver(self, forKeyPath: "contentOffset", options: [], context: nil)
                    other = weather.publisher(for: \\Weather.status)
                    fine = scrollView.observe(\\.contentOffset) { _, _ in }
                }
                override func observeValue(
                    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
                    context: UnsafeMutableRawPointer?
                ) {
                    if let weather = object as? Weather { show(weather) }
                }
            }
            """
        let file = Rewriting.run(text)
        #expect(!file.isChanged)
        #expect(file.findings.map(\.line) == [4, 7, 12, 13, 15, 18])
        #expect(file.findings.allSatisfy { $0.kind == .warning })
        #expect(file.findings[0].advice.contains("object.observe"))
        #expect(file.findings[1].advice.contains("invalidate()"))
    }

    @Test func `Typographic quotes are reported with their place, or replaced`() {
        let text =
            "class Dog: Object {\n    @objc dynamic var name = “Rex”  // “so called”\n    let ok = \"“fine”\"\n}\n"
        #expect(Rewriting.findings(text) == ["2:30 warning: Typographic quotes in code: “Rex”"])
        #expect(Rewriting.file(text).contains("@Persisted var name = “Rex”  // “so called”"))
        let fixed = Rewriting.file(text, fixesQuotes: true)
        #expect(fixed == text.replacing("@objc dynamic", with: "@Persisted").replacing("“Rex”", with: "\"Rex\""))
        #expect(Rewriting.findings(fixed) == [])
    }

    @Test(arguments: [
        ("let a = “x \\(b) y”", "let a = \"x \\(b) y\""),
        ("let a = \"x”", "let a = \"x\""),
        ("let a = “x\"", "let a = \"x\""),
        ("let a = “it’s”", "let a = \"it’s\""),
    ])
    func `Pasted strings of every kind get plain quotes`(_ before: String, _ after: String) {
        #expect(Rewriting.file(before, fixesQuotes: true) == after)
    }

    @Test(arguments: [
        ("class A: Object {\n  @objc dynamic var a = 0\n", "1:17", "'{' is never closed"),
        ("class A: Object { @objc dynamic var a = 0 } }", "1:45", "'}' closes nothing"),
        ("class A: Object { @objc dynamic var a = (0 }", "1:41", "'(' is closed by a '}'"),
        ("/* /* */ class A: Object { @objc dynamic var a = 0 }", "1:1", "comment that starts here never ends"),
        ("class A: Object { @objc dynamic var a = \"x }\n", "1:41", "string that starts here never ends"),
        (
            "let a = \"\"\"\n x\nclass A: Object { @objc dynamic var a = 0 }", "1:9",
            "string that starts here never ends"
        ),
        ("let a = \"\\(b\n", "1:10", "interpolation that starts here never ends"),
    ])
    func `Broken text stays and is reported where it breaks`(_ text: String, _ place: String, _ message: String) throws
    {
        let file = Rewriting.run(text)
        #expect(!file.isChanged)
        let finding = try #require(file.findings.first)
        #expect("\(finding.line):\(finding.column)" == place)
        #expect(finding.message.contains(message), "\(finding.message)")
    }

    @Test func `A class whose superclass is not in the input is reported if it looks like a model`() {
        let text = "class Dog: Animal {\n    override static func primaryKey() -> String? { \"id\" }\n}\n"
        #expect(
            Rewriting.findings(text) == [
                "1:7 warning: Dog looks like a model, but its superclass Animal isn't in the input."
            ])
    }
}
