package com.example.clinic;

import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.MappedSuperclass;
import java.time.LocalDate;

/** What the application {@link ClinicApplication} keeps: a dozen entities, some of which refer to others. */
final class Entities {

    private Entities() {}

    @MappedSuperclass
    abstract static class Named {

        @Id
        @GeneratedValue
        Long id;

        String name;
        LocalDate since;
    }

    @Entity(name = "Owner")
    static class Owner extends Named {}

    @Entity(name = "Pet")
    static class Pet extends Named {

        @ManyToOne(fetch = FetchType.LAZY)
        Owner owner;
    }

    @Entity(name = "Visit")
    static class Visit extends Named {

        @ManyToOne(fetch = FetchType.LAZY)
        Pet pet;
    }

    @Entity(name = "Vet")
    static class Vet extends Named {}

    @Entity(name = "Specialty")
    static class Specialty extends Named {

        @ManyToOne(fetch = FetchType.LAZY)
        Vet vet;
    }

    @Entity(name = "PetType")
    static class PetType extends Named {}

    @Entity(name = "Room")
    static class Room extends Named {}

    @Entity(name = "Invoice")
    static class Invoice extends Named {

        @ManyToOne(fetch = FetchType.LAZY)
        Owner owner;
    }

    @Entity(name = "InvoiceLine")
    static class InvoiceLine extends Named {

        @ManyToOne(fetch = FetchType.LAZY)
        Invoice invoice;
    }

    @Entity(name = "Medicine")
    static class Medicine extends Named {}

    @Entity(name = "Prescription")
    static class Prescription extends Named {

        @ManyToOne(fetch = FetchType.LAZY)
        Medicine medicine;
    }

    @Entity(name = "Appointment")
    static class Appointment extends Named {

        @ManyToOne(fetch = FetchType.LAZY)
        Room room;
    }
}
