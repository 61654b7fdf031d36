import Foundation
import Testing
import Tombolo

@Suite("Realm semantics: create copies the objects it's given")
struct CopySemanticsTests {
    let realm: Realm
    let other: Realm

    init() throws {
        realm = try objectRealm()
        other = try objectRealm()
    }

    @Test("Unmanaged objects given to create stay unmanaged, and so do those they link to")
    func unmanaged() throws {
        let tree = Tree(value: [
            "main": ["label": "m", "node": ["name": "n"], "twig": ["label": "t"], "twigs": [["label": "u"]]]
                as [String: Any],
            "branches": [["label": "b", "node": ["name": "o"]] as [String: Any]],
        ])
        let (first, second) = (Node("first"), Node("second"))
        first.next = second
        first.others.append(second)
        try realm.write {
            for _ in 0..<2 {
                let copy = realm.create(Tree.self, value: tree)
                #expect(copy.main?.node?.name == "n" && copy.main?.twigs.first?.label == "u")
                #expect(copy.branches.first?.node?.name == "o")
            }
            let copy = realm.create(Node.self, value: ["name": "x", "next": first, "others": [first, second]])
            #expect(copy.next == copy.others[0] && copy.next?.next == copy.others[1])
        }
        let main = try #require(tree.main)
        #expect(tree.realm == nil && main.realm == nil && main.twig?.realm == nil && main.twigs[0].realm == nil)
        #expect(main.node?.realm == nil && tree.branches[0].realm == nil && tree.branches[0].node?.realm == nil)
        #expect(first.realm == nil && second.realm == nil && first.others.realm == nil)
        #expect(realm.objects(Node.self).count == 2 * 2 + 3)
    }

    @Test("Keyless objects linked in circles are copied once each, from memory or another Realm")
    func circles() throws {
        let node = Node("a")
        node.next = node
        node.others.append(objectsIn: [node, Node("b")])
        node.others[1].next = node
        try other.write {
            // So that a rowid of one Realm is another object in the other.
            for number in 0..<5 { other.add(Node("\(number)")) }
            other.create(Node.self, value: node)
        }
        let foreign = try #require(other.objects(Node.self).where { $0.name == "a" }.first)
        try realm.write {
            for source in [node, foreign] {
                let copy = realm.create(Node.self, value: source)
                #expect(copy.next == copy && copy.others[0] == copy && copy.others[1].name == "b")
                #expect(copy.others[1].next == copy && copy != source)
            }
        }
        #expect(realm.objects(Node.self).count == 4)
        node.next = nil
        node.others.removeAll()
    }

    @Test("Objects linked from another Realm's embedded objects are copied too")
    func foreignParts() throws {
        try other.write {
            for number in 0..<5 { other.add(Node("\(number)")) }
            let tree = other.create(
                Tree.self,
                value: [
                    "main": ["node": ["name": "n"], "twig": ["nodes": [["name": "p"]]]] as [String: Any],
                    "branches": [["node": ["name": "o"]]],
                ])
            try realm.write {
                let copy = realm.create(Tree.self, value: tree)
                #expect(copy.main?.node?.name == "n" && copy.branches[0].node?.name == "o")
                #expect(copy.main?.twig?.nodes.first?.name == "p")
            }
        }
        #expect(Set(realm.objects(Node.self).map(\.name)) == ["n", "o", "p"])
    }

    @Test("A class without a primary key can't be updated")
    func withoutKey() throws {
        let error = #expect(throws: Realm.Error.self) {
            try realm.write { _ = realm.create(Node.self, value: ["name": "x"], update: .modified) }
        }
        #expect(error?.message.contains("does not have a primary key") == true)
    }

    @Test("An object created from another has its own embedded objects")
    func madeFromAnother() throws {
        let tree = Tree(value: ["main": ["label": "m", "twig": ["label": "t"]] as [String: Any], "branches": [["x"]]])
        let copy = Tree(value: tree)
        try realm.write { realm.add([tree, copy]) }
        try realm.write { copy.main?.twig?.label = "changed" }
        #expect(tree.main?.twig?.label == "t" && tree.branches[0].label == "x" && copy.branches[0].label == "x")
    }

    @Test("Linking to an object of a subclass stops the program")
    func subclasses() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try objectRealm()
            let delivery = Delivery()
            delivery.parcel = Express()
            try realm.write { realm.add(delivery) }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Object of type 'Express' does not match the type 'Parcel'"), "\(text.prefix(300))")
    }
}
