import Foundation
import Testing
import Tombolo

@Suite("Realm semantics: nil in queries")
struct NilSemanticsTests {
    let folder: TemporaryFolder
    let realm: Realm

    init() throws {
        folder = try TemporaryFolder()
        let realm = try folder.semanticRealm()
        self.realm = realm
        try realm.write {
            for (number, nick) in ["a", nil, ""].enumerated() {
                let citizen = Citizen(number, "ab*")
                citizen.nick = nick
                citizen.height = nick == nil ? nil : 1
                realm.add(citizen)
            }
        }
    }

    private func ids(_ format: String, _ argument: Any? = nil) -> [Int] {
        let all = realm.objects(Citizen.self)
        return (format.contains("%@") ? all.filter(format, argument) : all.filter(format)).map(\._id)
    }

    @Test(
        "Nil <= nil and nil >= nil hold, and nil is neither less nor greater than anything",
        arguments: ["height", "boss.height"])
    func order(_ path: String) {
        let isNil = path == "height" ? [1] : [0, 1, 2]
        #expect(ids("\(path) <= nil") == isNil && ids("\(path) >= %@", nil) == isNil && ids("nil >= \(path)") == isNil)
        #expect(ids("\(path) < nil").isEmpty && ids("\(path) > nil").isEmpty)
        #expect(ids("NOT \(path) <= nil") == [0, 1, 2].filter { !isNil.contains($0) })
        #expect(realm.objects(Citizen.self).where { $0.height <= nil && $0.boss.height >= $0.height }.map(\._id) == [1])
        #expect(ids("height <= boss.height") == [1] && ids("height < boss.height").isEmpty)
    }

    @Test("An object's own string is greater than nil; a string through a link isn't")
    func textOrder() {
        #expect(ids("nick > nil") == [0, 2] && ids("nil < nick") == [0, 2] && ids("nick > %@", nil) == [0, 2])
        #expect(ids("nick >= nil") == [0, 1, 2] && ids("nil <= nick") == [0, 1, 2])
        #expect(ids("nick < nil").isEmpty && ids("nick <= nil") == [1])
        #expect(ids("NOT nick > nil") == [1] && ids("NOT nick >= nil").isEmpty)
        #expect(ids("name > nil").count == 3 && ids("name >= nil").count == 3 && ids("name <= nil").isEmpty)
        #expect(ids("boss.nick > nil").isEmpty && ids("boss.nick >= nil") == [0, 1, 2])
    }

    @Test(
        "Every string contains, begins and ends with nil; only nil is LIKE nil",
        arguments: ["", "[c]", "[d]", "[cd]"])
    func text(_ options: String) {
        for test in ["CONTAINS", "BEGINSWITH", "ENDSWITH"] {
            #expect(ids("nick \(test)\(options) nil").count == 3 && ids("nick \(test)\(options) ''") == [0, 2])
            #expect(ids("NOT nick \(test)\(options) %@", nil).isEmpty)
            #expect(
                ids("name \(test)\(options) boss.nick").count == 3 && ids("nick \(test)\(options) boss.nick").count == 3
            )
        }
        #expect(ids("nick LIKE\(options) nil") == [1] && ids("NOT nick LIKE\(options) nil") == [0, 2])
        #expect(ids("nick LIKE\(options) boss.nick") == [1] && ids("name LIKE\(options) boss.nick").isEmpty)
        #expect(realm.objects(Citizen.self).where { $0.nick.contains(nil) }.count == 3)
    }
}
